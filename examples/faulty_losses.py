"""The losses of `losses.py` again, each with an accident that training code has had. Every one of them is found."""

import jax
import jax.numpy as jnp
from losses import INFO_NCE, PPO, SIMSIAM, STRAIGHT_THROUGH, TD, VQ_VAE, log_prob, nearest, q_values, stop, unit

from autoprop import Target


def td_loss_leaky(params, target_params, batch):
    """The target is not stopped: the target network is trained too, away from the truth."""
    best = jnp.max(q_values(target_params, batch["next_obs"]), axis=-1)
    target = batch["reward"] + 0.99 * batch["running"] * best
    q = q_values(params, batch["obs"])
    taken = jax.nn.one_hot(batch["action"], q.shape[-1], dtype=q.dtype)
    return jnp.mean((jnp.sum(q * taken, axis=-1) - target) ** 2)


def vq_vae_starved(z, codebook, decoder, x):
    """Both terms stop the same side: the encoder is pulled twice and the codebook starves."""
    q = nearest(z, codebook)
    through = z + stop(q - z)
    reconstruction = jnp.mean((through @ decoder - x) ** 2)
    return reconstruction + jnp.mean((stop(q) - z) ** 2) + 0.25 * jnp.mean((stop(q) - z) ** 2)


def ppo_clip_leaky(logits, old_logits, action, advantage):
    """The old policy is differentiated as well."""
    gain = log_prob(logits, action) - log_prob(old_logits, action)
    ratio = jnp.exp(jnp.clip(gain, -20.0, 20.0))
    return -jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage))


def ppo_clip_unguarded(logits, old_logits, action, advantage):
    """The ratio overflows: min() drops the infinity from the value, the gradient gets 0 * inf."""
    ratio = jnp.exp(log_prob(logits, action) - stop(log_prob(old_logits, action)))
    return -jnp.mean(jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage))


def unit_guarded_late(x):
    """The guard keeps the value finite at the zero vector; the norm's gradient there is NaN all the same."""
    return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-3)


def info_nce_guarded_late(anchor, positive):
    logits = unit_guarded_late(anchor) @ unit_guarded_late(positive).T / 0.1
    return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(logits)))


def simsiam_wrong_side(prediction, projection):
    """The prediction is stopped and the projection chases it."""
    return -jnp.mean(jnp.sum(unit(stop(prediction)) * unit(projection), axis=-1))


@jax.custom_vjp
def rounded(x):
    return jnp.round(x)


def rounded_forward(x):
    return rounded(x), None


def rounded_backward(_, g):
    """The wrong thing is rounded: small cotangents vanish."""
    return (jnp.round(g),)


rounded.defvjp(rounded_forward, rounded_backward)


def straight_through_rounded_twice(x, y):
    return jnp.mean((rounded(x) - y) ** 2)


FAULTY = [
    Target(td_loss_leaky, **TD),
    Target(vq_vae_starved, **VQ_VAE),
    Target(ppo_clip_leaky, **PPO),
    Target(ppo_clip_unguarded, **PPO),
    Target(info_nce_guarded_late, **INFO_NCE),
    Target(simsiam_wrong_side, **SIMSIAM),
    Target(straight_through_rounded_twice, intended="custom_rules", **STRAIGHT_THROUGH),
]
TARGETS = FAULTY
