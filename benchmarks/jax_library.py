"""
A survey: the derivatives of functions of `jax.nn`, `jax.scipy.special` and `optax.losses`, over the domains they state.

Run it with ``autoprop fuzz benchmarks/jax_library.py``. It is no example: what it finds are faults of those libraries.
"""

import jax
import jax.numpy as jnp
import optax
from function_tables.rows import ND, SIGN, N, row, survey
from function_tables.special import NN, SPECIAL, SPECIAL_NOT_EVERYWHERE

from hypothesis_jax import array, constant, labels, mask, one_hot, simplex, unit_interval

SIMPLEX = array("n d", support=simplex)
ONE_HOT = array("n d", support=one_hot)
PAIRED = jnp.array([0, 0, 1, 1])  # a contrastive loss without a positive pair is NaN

# Function, the specs of its arguments, and the arguments that are differentiated (None: all of them).
LOSSES = [
    *[(name, (ND, ND), None) for name in ("cosine_distance", "cosine_similarity", "huber_loss", "l2_loss", "log_cosh")],
    *[(name, (ND, ND), None) for name in ("perceptron_loss", "squared_error")],
    *[(name, (ND, SIMPLEX), 0) for name in ("generalized_kl_divergence", "kl_divergence")],
    *[(name, (ND, SIMPLEX), 0) for name in ("poly_loss_cross_entropy", "safe_softmax_cross_entropy")],
    *[(name, (ND, SIMPLEX), 0) for name in ("softmax_cross_entropy", "ranking_softmax_loss")],
    *[(name, (ND, array("n d", support=mask)), 0) for name in ("sigmoid_binary_cross_entropy", "sigmoid_focal_loss")],
    ("hinge_loss", (N, SIGN), 0),
    ("sparsemax_loss", (N, array("n", support=mask)), 0),
    *[
        (name, (array("d"), labels("", below="d")), 0)
        for name in ("multiclass_hinge_loss", "multiclass_perceptron_loss")
    ],
    ("binary_dice_loss", (ND, array("n d", support=mask)), 0),
    ("dice_loss", (ND, ONE_HOT), 0),
    ("kl_divergence_with_log_targets", (ND, ND), None),
    ("multiclass_generalized_dice_loss", (ND, ONE_HOT), 0),
    ("multiclass_sparsemax_loss", (ND, labels("n", below="d")), 0),
    ("ntxent", (array("4 d"), constant(PAIRED)), 0),
    ("smooth_labels", (ONE_HOT, array("", support=unit_interval)), None),
    ("softmax_cross_entropy_with_integer_labels", (ND, labels("n", below="d")), 0),
    ("triplet_margin_loss", (ND, ND, ND), None),
]


TARGETS = [
    *survey(jax.nn, "jax.nn", NN),
    *survey(jax.scipy.special, "jax.scipy.special", SPECIAL, SPECIAL_NOT_EVERYWHERE),
    *survey(optax.losses, "optax.losses", {name: row(*spec, argnums=argnums) for name, spec, argnums in LOSSES}),
]
