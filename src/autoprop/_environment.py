"""The versions, device and numeric modes under which a verdict was reached."""

from __future__ import annotations

import platform
from importlib import metadata

import attrs

__all__ = ["Environment", "versions"]


def versions(*names: str) -> dict[str, str]:
    """
    Return the installed versions of distributions without importing them.
    """
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


@attrs.frozen
class Environment:
    """
    Where a verdict was reached.

    Attributes:
        python: version of Python.
        jax: version of jax.
        jaxlib: version of jaxlib.
        numpy: version of numpy.
        hypothesis: version of hypothesis.
        autoprop: version of autoprop.
        platform: operating system and machine.
        device: kind of the default device, such as ``cpu``.
        x64: whether ``jax_enable_x64`` is on.
        matmul_precision: ``jax_default_matmul_precision``.
    """

    python: str
    jax: str
    jaxlib: str
    numpy: str
    hypothesis: str
    autoprop: str
    platform: str
    device: str
    x64: bool
    matmul_precision: str

    @classmethod
    def current(cls) -> Environment:
        """
        Describe this process. Imports jax and initialises its backend.
        """
        import jax

        found = versions("jax", "jaxlib", "numpy", "hypothesis", "autoprop-jax")
        return cls(
            python=platform.python_version(),
            jax=found["jax"],
            jaxlib=found["jaxlib"],
            numpy=found["numpy"],
            hypothesis=found["hypothesis"],
            autoprop=found["autoprop-jax"],
            platform=f"{platform.system()} {platform.machine()}",
            device=str(jax.devices()[0].device_kind),
            x64=bool(jax.config.jax_enable_x64),
            matmul_precision=str(jax.config.jax_default_matmul_precision or "default"),
        )

    def __str__(self) -> str:
        return (
            f"Python {self.python}, jax {self.jax}, jaxlib {self.jaxlib}, numpy {self.numpy}, "
            f"hypothesis {self.hypothesis}; "
            f"{self.device}, x64 {'on' if self.x64 else 'off'}, matmul precision {self.matmul_precision}"
        )
