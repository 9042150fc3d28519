"""What the tests of the search share: the zoo."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # the zoo is a package beside this folder
