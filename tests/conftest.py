"""Settings that every test shares: JAX on the CPU, and the profiles of Hypothesis."""

import os

import hypothesis

pytest_plugins = ["pytester"]

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before anything imports jax

# Choose with --hypothesis-profile; compilation makes first examples slow, so there is no deadline anywhere.
hypothesis.settings.register_profile("dev", max_examples=25, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("deep", max_examples=1000, deadline=None)
hypothesis.settings.load_profile("dev")
