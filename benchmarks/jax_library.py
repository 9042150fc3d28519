"""
A survey: the derivatives of functions of `jax.nn`, `jax.scipy.special` and `optax.losses`, over the domains they state.

Run it with ``autoprop fuzz benchmarks/jax_library.py``. It is no example: what it finds are faults of those libraries.
"""

import jax
import jax.numpy as jnp
import optax

from autoprop import Target
from hypothesis_jax import array, constant, labels, mask, one_hot, positive, real, simplex, static, unit_interval

N, ND = array("n"), array("n d")
POSITIVE = array("n", support=positive)
UNIT = array("n", support=unit_interval)
SIMPLEX = array("n d", support=simplex)
ONE_HOT = array("n d", support=one_hot)
SIGN = array("n", support=real(-1.0, 1.0))
COUNT = array("n", support=real(0.0, None))
PAIRED = jnp.array([0, 0, 1, 1])  # a contrastive loss without a positive pair is NaN

# Function, the specs of its arguments, and the arguments that are differentiated (None: all of them).
NN = [
    *[(name, N, None) for name in ("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu")],
    *[(name, N, None) for name in ("log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign")],
    *[(name, N, None) for name in ("softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "tanh")],
    *[(name, ND, None) for name in ("log_softmax", "logmeanexp", "logsumexp", "softmax", "standardize")],
    ("glu", array("n 4"), None),
    ("log1mexp", POSITIVE, None),
    ("dot_product_attention", (array("t h d"), array("s h d"), array("s h d")), None),
]

SPECIAL = [
    *[(name, N, None) for name in ("digamma", "erf", "erfc", "erfcx", "expit", "gammaln", "i0", "i0e", "i1", "i1e")],
    *[(name, N, None) for name in ("dawsn", "fresnel", "gamma", "log_ndtr", "ndtr", "sici")],
    *[(name, POSITIVE, None) for name in ("exp1", "expi", "spence")],
    *[(name, UNIT, None) for name in ("logit", "ndtri")],
    *[(name, COUNT, None) for name in ("entr", "factorial")],
    *[(name, (POSITIVE, POSITIVE), None) for name in ("beta", "betaln", "kl_div", "poch", "rel_entr")],
    *[(name, (POSITIVE, POSITIVE), None) for name in ("gammainc", "gammaincc")],
    ("betainc", (POSITIVE, POSITIVE, UNIT), 2),
    ("boxcox", (POSITIVE, N), None),
    ("boxcox1p", (POSITIVE, N), None),
    ("erfinv", SIGN, None),
    ("multigammaln", (array("n", support=real(2.0, None)), static(1, 2, 3)), 0),
    ("owens_t", (N, N), None),
    ("polygamma", (static(1, 2, 3), POSITIVE), 1),
    ("xlog1py", (COUNT, COUNT), None),
    ("xlogy", (COUNT, POSITIVE), None),
    ("zeta", (array("n", support=real(1.5, 60.0)), POSITIVE), 1),
]

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


def survey(module, prefix, table):
    """
    Yield a target for each row of a table; a function that the installed version lacks is an error.
    """
    for name, spec, argnums in table:
        yield Target(getattr(module, name), spec, name=f"{prefix}.{name}", argnums=argnums)


TARGETS = [
    *survey(jax.nn, "jax.nn", NN),
    *survey(jax.scipy.special, "jax.scipy.special", SPECIAL),
    *survey(optax.losses, "optax.losses", LOSSES),
]
