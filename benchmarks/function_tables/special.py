"""Functions of `jax.nn` and `jax.scipy.special`, over the domains they state."""

import jax.numpy as jnp

from hypothesis_jax import array, labels, real, static

from .rows import COUNT, ND, POSITIVE, SIGN, UNIT, N, row, rows

NN = {
    **rows("celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu", N),
    **rows("log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus", N),
    **rows("sparse_plus sparse_sigmoid squareplus swish tanh", N),
    **rows("log_softmax logmeanexp logsumexp softmax standardize", ND),
    "glu": row(array("n 4")),
    "log1mexp": row(POSITIVE),
    "dot_product_attention": row(array("t h d"), array("s h d"), array("s h d")),
}
NN_LEFT_OUT = {
    "integer arguments": "one_hot",
    "static Python values only": "get_scaled_dot_general_config",
    "narrow block formats, on accelerators alone": "scaled_dot_general scaled_matmul",
}

SPECIAL = {
    **rows("digamma erf erfc erfcx expit gammaln i0 i0e i1 i1e dawsn fresnel gamma log_ndtr loggamma ndtr sici", N),
    **rows("exp1 expi spence", POSITIVE),
    **rows("logit ndtri", UNIT),
    **rows("entr factorial", COUNT),
    **rows("beta betaln kl_div poch rel_entr gammainc gammaincc", POSITIVE, POSITIVE),
    **rows("boxcox boxcox1p", POSITIVE, N),
    **rows("logsumexp softmax log_softmax", ND),
    "bessel_jn": row(POSITIVE, static(0, 1, 2), call=lambda f, x, order: f(x, v=order)),
    "betainc": row(POSITIVE, POSITIVE, UNIT, argnums=2),
    "comb": row(array("n", support=real(4.0, 60.0)), array("n", support=real(0.0, 4.0))),
    "erfcinv": row(array("n", support=real(0.0, 2.0))),
    "erfinv": row(SIGN),
    "expn": row(static(1, 2, 5), POSITIVE, argnums=1),
    "hyp1f1": row(*3 * [array("n", support=real(0.5, 5.0))]),
    "hyp2f1": row(*3 * [array("n", support=real(0.5, 5.0))], array("n", support=real(-0.9, 0.9)), argnums=3),
    "multigammaln": row(array("n", support=real(2.0, None)), static(1, 2, 3), argnums=0),
    "owens_t": row(N, N),
    "polygamma": row(static(1, 2, 3), POSITIVE, argnums=1),
    "sph_harm_y": row(
        labels("n", below=3),
        array("n", support=real(0.0, 3.14)),
        array("n", support=real(0.0, 6.28)),
        call=lambda f, degree, theta, phi: f(degree, jnp.zeros_like(degree), theta, phi, n_max=2),
        argnums=(1, 2),
    ),
    "wofz": row(array("n", jnp.complex64)),
    "xlog1py": row(COUNT, COUNT),
    "xlogy": row(COUNT, POSITIVE),
    "zeta": row(array("n", support=real(1.5, 60.0)), POSITIVE, argnums=1),
}
SPECIAL_NOT_EVERYWHERE = frozenset(("erfcinv",))  # new in JAX 0.12
SPECIAL_LEFT_OUT = {
    "static Python values only": "bernoulli",
    "a sign, whose derivative is zero": "gammasgn",
}
