"""``python -m autoprop`` is the command ``autoprop``."""

from .cli import main

if __name__ == "__main__":
    main()
