"""Settings that every test shares: JAX on the CPU, and the profiles of Hypothesis."""

import os
from typing import Any

import hypothesis
import pytest

pytest_plugins = ["pytester"]

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before anything imports jax

# Choose with --hypothesis-profile; compilation makes first examples slow, so there is no deadline anywhere.
hypothesis.settings.register_profile("dev", max_examples=25, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("deep", max_examples=1000, deadline=None)
hypothesis.settings.load_profile("dev")


_programs: list[str] = []


@pytest.fixture(scope="session")
def _listening() -> None:
    """Note every program that is compiled; JAX has no public way to take a listener away again."""
    import jax

    def note(event: str, seconds: float, **named: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            _programs.append(str(named.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(note)


@pytest.fixture
def programs(_listening: None) -> list[str]:
    """The names of the programs that the test has compiled so far."""
    _programs.clear()
    return _programs
