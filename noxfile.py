"""The whole suite on every supported pair of Python and JAX, and the linters."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True

PAIRS = {
    "3.11": ("jax==0.10.2", "jaxlib==0.10.2"),
    "3.12": ("jax==0.11.2", "jaxlib==0.11.2"),
    "3.13": ("jax>=0.12,<0.13", "jaxlib>=0.12,<0.13"),
}


@nox.session(python=list(PAIRS))
def tests(session: nox.Session) -> None:
    """Run the whole suite."""
    session.install("-e", ".[dev]", *PAIRS[str(session.python)])
    session.run("pytest", *session.posargs, env={"JAX_PLATFORMS": "cpu"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check format and style."""
    session.install("ruff>=0.11")
    session.run("ruff", "format", "--check")
    session.run("ruff", "check")


@nox.session(python="3.12")
def types(session: nox.Session) -> None:
    """Check the types."""
    session.install("-e", ".[dev]", *PAIRS["3.12"])
    session.run("mypy")
