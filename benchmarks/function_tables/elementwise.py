"""Functions of `jax.numpy` that work on each element by itself, and reductions."""

from hypothesis_jax import array, labels, mask, one_hot, positive, real, static, unit_interval

from .rows import COMPLEX, COUNT, INDICES, MASK, ND, POSITIVE, SCALAR, SIGN, UNIT, N, row, rows

FROM_ONE = array("n", support=real(1.0, None))
ABOVE_MINUS_ONE = array("n", support=real(-1.0, None))
MASKS = array("n d", bool, support=mask)

ELEMENTWISE = {
    **rows("abs absolute arcsinh arctan asinh atan cbrt ceil copy cos cosh deg2rad degrees exp exp2 expm1 fabs", N),
    **rows("floor i0 modf nan_to_num negative positive rad2deg radians reciprocal rint round around", N),
    **rows("sign sin sinc sinh square tan tanh trunc frexp unwrap array asarray", N),
    **rows("acos arccos arcsin asin arctanh atanh", SIGN),
    **rows("acosh arccosh", FROM_ONE),
    **rows("log log10 log2", POSITIVE),
    "log1p": row(ABOVE_MINUS_ONE),
    "sqrt": row(COUNT),
    **rows("angle conj conjugate imag real", COMPLEX),
    **rows("add subtract multiply divide true_divide maximum minimum fmax fmin hypot arctan2 atan2 copysign", N, N),
    **rows("logaddexp logaddexp2 heaviside mod remainder fmod floor_divide divmod", N, N),
    **rows("pow power float_power", POSITIVE, N),
    "ldexp": row(N, labels("n", below=8)),
    "clip": row(N, SCALAR, SCALAR),
    "where": row(MASK, N, N),
    "select": row(MASK, MASK, N, N, SCALAR, call=lambda f, p, q, x, y, z: f([p, q], [x, y], z)),
    "choose": row(labels("n", below=2), N, N, call=lambda f, i, x, y: f(i, [x, y], mode="clip")),
    "piecewise": row(N, call=lambda f, x: f(x, [x < 0, x > 1], [lambda u: -u, lambda u: u * u, lambda u: 2 * u])),
    "interp": row(N, array("m", support=real(-4.0, 4.0)), array("m"), call=lambda f, x, p, y: f(x, p.sort(), y)),
    "astype": row(N, call=lambda f, x: f(x, "bfloat16")),
}

REDUCTIONS = {
    **rows("sum prod mean std var max min amax amin ptp median", ND),
    **rows("nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar", ND),
    **rows("cumsum cumprod nancumsum nancumprod minmax", ND),
    **rows("cumulative_sum cumulative_prod", N),
    **rows("percentile nanpercentile", N, array("", support=real(0.0, 100.0))),
    "quantile": row(
        N,
        array("", support=unit_interval),
        static("linear", "lower", "higher", "midpoint", "nearest"),
        call=lambda f, x, q, method: f(x, q, method=method),
    ),
    "nanquantile": row(N, array("", support=unit_interval)),
    "average": row(ND, array("n d", support=positive), call=lambda f, x, w: f(x, axis=0, weights=w)),
    "trapezoid": row(N, N),
    "corrcoef": row(array("n 6")),
    "cov": row(array("n 6")),
    "bincount": row(INDICES, array("m"), call=lambda f, i, w: f(i, w, length=4)),
    "histogram": row(
        array("m", support=unit_interval),
        array("m"),
        call=lambda f, x, w: f(x, 3, range=(0.0, 1.0), weights=w)[0],
        argnums=1,
    ),
    "histogram_bin_edges": row(N, call=lambda f, x: f(x, 3)),
    "sort": row(ND),
    "partition": row(array("5"), call=lambda f, x: f(x, 2)),
    "top_k": row(array("n 4"), call=lambda f, x: f(x, 2)[0]),
    "sort_complex": row(COMPLEX),
    **rows("unique unique_values", N, call=lambda f, x: f(x, size=3, fill_value=0.0)),
    **rows("union1d setxor1d intersect1d setdiff1d", N, N, call=lambda f, x, y: f(x, y, size=4, fill_value=0.0)),
    "compress": row(MASK, N, call=lambda f, p, x: f(p, x, size=3)),
    "extract": row(MASK, N, call=lambda f, p, x: f(p, x, size=3)),
    "place": row(N, MASK, array("3"), call=lambda f, x, p, v: f(x, p, v, inplace=False)),
    "put": row(N, labels("2", below="n"), array("2"), call=lambda f, x, i, v: f(x, i, v, inplace=False)),
    "take": row(N, INDICES),
    "take_along_axis": row(ND, labels("n m", below="d"), call=lambda f, x, i: f(x, i, axis=1)),
    "put_along_axis": row(
        ND,
        array("n d", "int32", support=one_hot),
        array("n d"),
        call=lambda f, x, i, v: f(x, i.argmax(1, keepdims=True), v[:, :1], axis=1, inplace=False),
    ),
    "trace": row(ND),
    "poly": row(array("3")),
    "polyval": row(array("3"), UNIT),
}
