"""What the plugin costs where it is not used: nothing."""

import pytest

PROBE = """
    import sys
    def pytest_unconfigure(config):
        names = ("jax", "numpy", "hypothesis", "autoprop._target", "autoprop.corpus")
        print("LOADED", *(name for name in names if name in sys.modules))
"""


ALONE = ("--disable-plugin-autoload", "-p", "autoprop.pytest_plugin")


@pytest.fixture
def plain(project):
    """
    Return a project that uses nothing of autoprop.
    """
    project.write("conftest.py", PROBE)
    project.write("test_a.py", "def test_a():\n    pass\n")
    return project


def test_unused_plugin_loads_nothing(plain):
    """A session without tests of ours imports neither jax nor numpy nor the parts of autoprop, yet has its header."""
    result = plain.run(*ALONE, plugin=None)
    assert (result.status, result.lines("LOADED"), len(result.lines("autoprop: jax"))) == (0, ["LOADED"], 1)


def test_probe_can_fail(plain):
    """The probe sees a module that is loaded."""
    plain.write("test_a.py", "import numpy\ndef test_a():\n    pass\n")
    assert plain.run(*ALONE, plugin=None).lines("LOADED") == ["LOADED numpy"]


def test_wrong_option_is_refused(plain):
    """A wrong value of an option is an error of usage that names it."""
    result = plain.run("-o", "autoprop_capture=some")
    assert (result.status, "autoprop_capture='some' must be one of jax, all, off" in result.text) == (4, True)
