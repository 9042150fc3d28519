"""Losses as training code has them, each with what its author promises about the gradient. All of them are sound."""

import jax
import jax.numpy as jnp

from autoprop import Target
from hypothesis_jax import array, labels, like, real

stop = jax.lax.stop_gradient


def q_values(params, obs):
    return obs @ params["w"] + params["b"]


def td_loss(params, target_params, batch):
    """Q-learning: the network chases a target that a frozen copy of it sets."""
    best = jnp.max(q_values(target_params, batch["next_obs"]), axis=-1)
    target = stop(batch["reward"] + 0.99 * batch["running"] * best)
    q = q_values(params, batch["obs"])
    taken = jax.nn.one_hot(batch["action"], q.shape[-1], dtype=q.dtype)
    return jnp.mean((jnp.sum(q * taken, axis=-1) - target) ** 2)


def nearest(z, codebook):
    distance = jnp.sum((z[:, None] - codebook[None]) ** 2, axis=-1)
    return codebook[jnp.argmin(distance, axis=-1)]


def vq_vae(z, codebook, decoder, x):
    """The codebook moves towards the encoder and the encoder, more slowly, towards the codebook."""
    q = nearest(z, codebook)
    through = z + stop(q - z)
    reconstruction = jnp.mean((through @ decoder - x) ** 2)
    return reconstruction + jnp.mean((q - stop(z)) ** 2) + 0.25 * jnp.mean((stop(q) - z) ** 2)


def log_prob(logits, action):
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=-1)[:, 0]


def ppo_clip(logits, old_logits, action, advantage):
    """The exponent is bounded: min() would hide an infinite ratio from the value, but not from the gradient."""
    gain = log_prob(logits, action) - stop(log_prob(old_logits, action))
    ratio = jnp.exp(jnp.clip(gain, -20.0, 20.0))
    return -jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage))


def unit(x):
    return x * jax.lax.rsqrt(jnp.sum(x**2, axis=-1, keepdims=True) + 1e-6)


def info_nce(anchor, positive):
    """Each anchor is to recognise its own positive among those of the batch."""
    logits = unit(anchor) @ unit(positive).T / 0.1
    return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(logits)))


def simsiam(prediction, projection):
    """The prediction follows the projection of the other view; the projection stays where it is."""
    return -jnp.mean(jnp.sum(unit(prediction) * unit(stop(projection)), axis=-1))


def straight_through(x, y):
    """Rounds forward, and lets the gradient through as if it had not."""
    return jnp.mean((x + stop(jnp.round(x) - x) - y) ** 2)


def straight_through_gradient(x, y):
    return 2 * (jnp.round(x) - y) / len(x)


PARAMS = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
BATCH = {
    "obs": jnp.ones((4, 3)),
    "action": jnp.array([0, 1, 1, 0]),
    "reward": jnp.ones(4),
    "running": jnp.ones(4),
    "next_obs": jnp.ones((4, 3)),
}

# What each loss takes and promises; the faulty twins are held to the same.
TD = {
    "args": like(PARAMS, PARAMS, BATCH),
    "argnums": (0, 1),
    "frozen": "target_params",
    "live": "params",
    "intended": "stop_gradient",
}
# The loss is of fourth degree: far beyond this, float32 may have room for its value but none for its gradient.
BOUNDED = real(-1e6, 1e6)
VQ_VAE = {
    "args": tuple(array(dims, support=BOUNDED) for dims in ("n d", "k d", "d m", "n m")),
    "argnums": (0, 1, 2),
    "live": ("z", "codebook", "decoder"),
    "intended": "stop_gradient",
}
PPO = {
    "args": (array("n a"), array("n a"), labels("n", below="a"), array("n")),
    "argnums": (0, 1),
    "frozen": "old_logits",
    "live": "logits",
    "intended": "stop_gradient",
}
INFO_NCE = {"args": (array("n d"), array("n d")), "live": ("anchor", "positive")}
SIMSIAM = {
    "args": (array("n d"), array("n d")),
    "frozen": "projection",
    "live": "prediction",
    "intended": "stop_gradient",
}
STRAIGHT_THROUGH = {
    "args": (array("n"), array("n")),
    "argnums": 0,
    "live": "x",
    "expected_grad": straight_through_gradient,
}

SOUND = [
    Target(td_loss, **TD),
    Target(vq_vae, **VQ_VAE),
    Target(ppo_clip, **PPO),
    Target(info_nce, **INFO_NCE),
    Target(simsiam, **SIMSIAM),
    Target(straight_through, intended="stop_gradient", **STRAIGHT_THROUGH),
]
TARGETS = SOUND
