"""Functions for the law of several devices: `sharded`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from .entry import Planted, Sound

F = np.float32
X4 = np.array([0.5, -1.25, 2.0, 0.75], F)
W = np.arange(12, dtype=F).reshape(3, 4) / 8


def divided_by_devices(x: Any) -> Any:
    """A mean over the global batch is divided by the number of devices once more."""
    return jnp.mean(x**2) / jax.device_count()


def _everywhere(fn: Any, out: Any) -> Any:
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    return jax.shard_map(fn, mesh=mesh, in_specs=PartitionSpec("batch"), out_specs=out, check_vma=False)


def sum_without_collective(x: Any) -> Any:
    """Each device returns the sum of its own part as if it were the whole."""
    return _everywhere(lambda part: jnp.sum(jnp.sin(part)), PartitionSpec())(x)


def norm_of_the_part(x: Any) -> Any:
    """Each device divides by the norm of its own part."""
    return _everywhere(lambda part: part / jnp.sqrt(1 + jnp.sum(part**2)), PartitionSpec("batch"))(x)


def mean_over_devices(x: Any, w: Any) -> Any:
    """A mean over all devices, by a collective, of a product whose rows are split."""
    total = _everywhere(lambda part: jax.lax.psum(jnp.sum(jnp.tanh(part)), "batch"), PartitionSpec())(x)
    return total / x.size + jnp.cumsum(w @ x)


def noisy(x: Any, key: Any, label: Any, scale: Any) -> Any:
    """Arguments of many kinds: a key, a label, a Python scalar."""
    return {"y": (jnp.sin(x) + jax.random.normal(key, x.shape, x.dtype)) * scale, "z": x[label]}


FAULTS = [
    Planted("divided by devices", "sharded", divided_by_devices, (X4,)),
    Planted("sum without collective", "sharded", sum_without_collective, (X4,)),
    Planted("norm of the part", "sharded", norm_of_the_part, (X4,)),
]
SOUND = [
    Sound("mean over devices", "sharded", mean_over_devices, (X4, W), tricky=(0 * X4, W)),
]
