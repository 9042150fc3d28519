"""Functions of `jax.lax`."""

import jax.numpy as jnp
from jax import lax

from hypothesis_jax import array, labels, real, static

from .rows import COMPLEX, COUNT, INDICES, MASK, ND, POSITIVE, SCALAR, SIGN, UNIT, M, N, row, rows

IMAGE, KERNEL = array("1 2 5 5"), array("3 2 2 2")
STEPS = ((1, 1), "VALID")
ROWS_OF = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
INTO_ROWS = lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)
CONTRACTED = (((1,), (0,)), ((), ()))
GROUPS = array("2", "int32", support=real(2, 2))

ELEMENTWISE = {
    **rows("abs asinh atan bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf erfc exp exp2 expm1 floor", N),
    **rows("lgamma logistic neg reciprocal round sign sin sinh square tan tanh one_minus_square", N),
    **rows("optimization_barrier", N),
    "stop_gradient": row(N, intended="stop_gradient"),
    **rows("acos asin atanh erf_inv", SIGN),
    "acosh": row(array("n", support=real(1.0, None))),
    **rows("log log2 rsqrt", POSITIVE),
    "log1p": row(array("n", support=real(-1.0, None))),
    "sqrt": row(COUNT),
    **rows("conj imag real", COMPLEX),
    **rows("add atan2 complex div max min mul rem sub", N, N),
    "pow": row(POSITIVE, N),
    "integer_pow": row(N, static(2, 3, 1, 0, -1, -2)),
    "clamp": row(SCALAR, N, SCALAR),
    "reduce_precision": row(N, call=lambda f, x: f(x, 5, 10)),
    "convert_element_type": row(N, call=lambda f, x: f(x, jnp.bfloat16)),
    **rows("igamma igammac", POSITIVE, POSITIVE),
    "betainc": row(POSITIVE, POSITIVE, UNIT, argnums=2),
    "polygamma": row(static(1.0, 2.0), POSITIVE, call=lambda f, order, x: f(jnp.full_like(x, order), x), argnums=1),
    "zeta": row(array("n", support=real(1.5, 60.0)), POSITIVE, argnums=1),
    "select": row(MASK, N, N),
    "select_n": row(MASK, N, N),
    "polynomial": row(N, array("3"), call=lambda f, x, c: f(x, list(c))),
}

REDUCTIONS = {
    **rows("reduce_max reduce_min reduce_prod reduce_sum", ND, call=lambda f, x: f(x, (0,))),
    "reduce": row(ND, call=lambda f, x: f(x, jnp.float32(0), lax.add, (1,))),
    "reduce_window": row(
        array("5"),
        static("add", "max", "min"),
        call=lambda f, x, kind: f(
            x, {"add": 0.0, "max": -jnp.inf, "min": jnp.inf}[kind], _op(kind), (2,), (1,), "SAME"
        ),
    ),
    **rows("cumlogsumexp cummax cummin cumprod cumsum", ND),
    "associative_scan": row(N, call=lambda f, x: f(lax.mul, x)),
    "sort": row(ND),
    "sort_key_val": row(N, N),
    "top_k": row(array("n 4"), call=lambda f, x: f(x, 2)[0]),
    **rows("approx_max_k approx_min_k", array("n 4"), call=lambda f, x: f(x, 2)[0]),
    "fft": row(COMPLEX, call=lambda f, x: f(x, "FFT", x.shape)),
}

PRODUCTS = {
    "dot": row(array("n m"), array("m d")),
    "batch_matmul": row(array("2 n m"), array("2 m d")),
    "dot_general": row(array("n m"), array("m d"), call=lambda f, x, y: f(x, y, CONTRACTED)),
    "scaled_dot": row(array("n m"), array("m d"), call=lambda f, x, y: f(x, y, dimension_numbers=CONTRACTED)),
    "ragged_dot": row(array("4 m"), array("2 m d"), GROUPS),
    "conv": row(IMAGE, KERNEL, call=lambda f, x, k: f(x, k, *STEPS)),
    "conv_general_dilated": row(IMAGE, KERNEL, call=lambda f, x, k: f(x, k, (2, 1), "SAME", rhs_dilation=(1, 2))),
    "conv_general_dilated_local": row(
        IMAGE, array("3 8 4 4"), call=lambda f, x, k: f(x, k, *STEPS, filter_shape=(2, 2))
    ),
    "conv_general_dilated_patches": row(IMAGE, call=lambda f, x: f(x, (2, 2), *STEPS)),
    "conv_transpose": row(array("1 5 5 2"), array("2 2 2 3"), call=lambda f, x, k: f(x, k, (2, 2), "SAME")),
    "conv_with_general_padding": row(
        IMAGE, KERNEL, call=lambda f, x, k: f(x, k, (1, 1), ((0, 1), (1, 0)), (1, 1), (1, 1))
    ),
}

MOVES = {
    "broadcast": row(N, call=lambda f, x: f(x, (2,))),
    "broadcast_in_dim": row(N, call=lambda f, x: f(x, (2, *x.shape), (1,))),
    "broadcast_like": row(N, array("m n"), argnums=0),
    "broadcast_to_rank": row(N, call=lambda f, x: f(x, 2)),
    "collapse": row(ND, call=lambda f, x: f(x, 0)),
    "concatenate": row(N, M, call=lambda f, x, y: f([x, y], 0)),
    "stack": row(N, N, call=lambda f, x, y: f([x, y])),
    "unstack": row(ND),
    "expand_dims": row(N, call=lambda f, x: f(x, (0,))),
    "full": row(SCALAR, call=lambda f, x: f((2, 3), x)),
    "full_like": row(N, SCALAR),
    "pad": row(N, SCALAR, call=lambda f, x, v: f(x, v, ((1, -1, 1),))),
    "reshape": row(ND, call=lambda f, x: f(x, (x.size,))),
    "rev": row(ND, call=lambda f, x: f(x, (0,))),
    "slice": row(array("4 d"), call=lambda f, x: f(x, (1, 0), (4, x.shape[1]), (2, 1))),
    "slice_in_dim": row(array("4 d"), call=lambda f, x: f(x, 1, 3)),
    "split": row(array("4"), call=lambda f, x: f(x, (1, 3))),
    "squeeze": row(array("n 1"), call=lambda f, x: f(x, (1,))),
    "tile": row(N, call=lambda f, x: f(x, (2,))),
    "transpose": row(ND, call=lambda f, x: f(x, (1, 0))),
    "index_in_dim": row(array("4 d"), call=lambda f, x: f(x, 1)),
    "index_take": row(ND, labels("m", below="n"), call=lambda f, x, i: f(x, i[:, None], (0,))),
    "dynamic_index_in_dim": row(ND, labels("", below="n")),
    "dynamic_slice": row(array("4"), labels("", below=4), call=lambda f, x, i: f(x, (i,), (2,))),
    "dynamic_slice_in_dim": row(array("4 d"), labels("", below=4), call=lambda f, x, i: f(x, i, 2)),
    "dynamic_update_index_in_dim": row(ND, array("d"), labels("", below="n"), call=lambda f, x, v, i: f(x, v, i, 0)),
    "dynamic_update_slice": row(array("4"), array("2"), labels("", below=4), call=lambda f, x, v, i: f(x, v, (i,))),
    "dynamic_update_slice_in_dim": row(
        array("4 d"), array("2 d"), labels("", below=4), call=lambda f, x, v, i: f(x, v, i, 0)
    ),
    "gather": row(ND, INDICES, call=lambda f, x, i: f(x, i[:, None], ROWS_OF, (1, x.shape[1]))),
    **rows(
        "scatter scatter_add scatter_max scatter_min scatter_mul scatter_sub",
        ND,
        INDICES,
        array("m d"),
        call=lambda f, x, i, v: f(x, i[:, None], v, INTO_ROWS),
    ),
}


def _op(kind):  # type: ignore[no-untyped-def]
    return getattr(lax, kind)


ROWS = ELEMENTWISE | REDUCTIONS | PRODUCTS | MOVES
NOT_EVERYWHERE = frozenset(("log2", "one_minus_square", "polynomial"))  # new in JAX 0.11, 0.11 and 0.12

LEFT_OUT = {
    "boolean output": "eq ge gt is_finite le lt ne reduce_and reduce_or reduce_xor",
    "integer output": "argmax argmin",
    "integer arguments": """
        bitwise_and bitwise_not bitwise_or bitwise_xor clz mulhi population_count shift_left shift_right_arithmetic
        shift_right_logical""",
    "needs a callable": """
        composite cond custom_linear_solve custom_root fori_loop map platform_dependent scan scatter_apply switch
        while_loop""",
    "needs a named axis or a device mesh": """
        all_gather all_to_all axis_index axis_size pbroadcast pcast pmax pmean pmin ppermute precv psend pshuffle psum
        psum_scatter psum_scatter_start pswapaxes ragged_all_to_all with_sharding_constraint""",
    "creates arrays": "broadcasted_iota empty iota rng_bit_generator rng_uniform",
    "static Python values only": """
        broadcast_shapes conv_dimension_numbers conv_general_permutations conv_general_shape_tuple conv_shape_tuple
        conv_transpose_shape_tuple dtype padtype_to_pads reduce_window_shape_tuple shape_as_value""",
    "an effect or a token, no value": "after_all create_token dce_sink",
    "an annotation of types": "DotDimensionNumbers ConvGeneralDilatedDimensionNumbers PrecisionLike",
    "bits of the representation: no function of real numbers": "bitcast_convert_type nextafter",
    "the derivative of another function, without a derivative of its own": "igamma_grad_a random_gamma_grad",
    "the general form of ragged_dot, on accelerators for the other modes": "ragged_dot_general",
    "a stage of a pipeline over devices": "stage",
}
