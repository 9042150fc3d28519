"""Functions of `jax.numpy` that build, move, join and multiply arrays, and those that are left out."""

from hypothesis_jax import array, positive, real, static

from .elementwise import ELEMENTWISE, REDUCTIONS
from .rows import MASK, ND, SCALAR, M, N, row, rows

CUBE = array("n d 2")
MODES = ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "minimum", "median")

ARRAYS = {
    **rows("atleast_1d atleast_2d atleast_3d diagflat fliplr flipud flip matrix_transpose", ND),
    **rows("ravel rot90 squeeze transpose tril triu unstack diag diagonal", ND),
    **rows("ediff1d diff gradient", N),
    **rows("append dstack", N, N, call=lambda f, x, y: f(x, y) if f.__name__ == "append" else f((x, y))),
    **rows("column_stack concat concatenate hstack stack vstack", ND, ND, call=lambda f, x, y: f([x, y])),
    "block": row(ND, ND, call=lambda f, x, y: f([[x, y], [y, x]])),
    "broadcast_arrays": row(N, SCALAR),
    "broadcast_to": row(N, call=lambda f, x: f(x, (2, *x.shape))),
    **rows("array_split split vsplit", array("4 d"), call=lambda f, x: f(x, 2)),
    "hsplit": row(array("n 4"), call=lambda f, x: f(x, 2)),
    "dsplit": row(array("n d 4"), call=lambda f, x: f(x, 2)),
    "delete": row(array("4"), call=lambda f, x: f(x, 1)),
    "insert": row(array("4"), SCALAR, call=lambda f, x, v: f(x, 1, v)),
    "expand_dims": row(N, call=lambda f, x: f(x, 0)),
    "fill_diagonal": row(ND, SCALAR, call=lambda f, x, v: f(x, v, inplace=False)),
    "full": row(SCALAR, call=lambda f, v: f((2, 3), v)),
    "full_like": row(N, SCALAR),
    "linspace": row(SCALAR, SCALAR, call=lambda f, x, y: f(x, y, 5)),
    "logspace": row(*2 * [array("", support=real(-5.0, 5.0))], call=lambda f, x, y: f(x, y, 5)),
    "geomspace": row(*2 * [array("", support=positive)], call=lambda f, x, y: f(x, y, 5)),
    "meshgrid": row(N, M),
    **rows("moveaxis swapaxes", ND, call=lambda f, x: f(x, 0, 1)),
    "permute_dims": row(ND, call=lambda f, x: f(x, (1, 0))),
    "rollaxis": row(ND, call=lambda f, x: f(x, 1)),
    "pad": row(ND, static(*MODES), call=lambda f, x, mode: f(x, 1, mode=mode)),
    "repeat": row(N, call=lambda f, x: f(x, 2)),
    "reshape": row(ND, call=lambda f, x: f(x, -1)),
    "resize": row(ND, call=lambda f, x: f(x, (3, 2))),
    "roll": row(ND, call=lambda f, x: f(x, 1, axis=0)),
    "tile": row(ND, call=lambda f, x: f(x, (2, 1))),
    "vander": row(N),
}

PRODUCTS = {
    **rows("dot inner vdot vecdot", N, N),
    **rows("outer convolve correlate", N, M),
    **rows("polyadd polysub polymul", array("3"), array("2")),
    "polydiv": row(array("4"), array("2")),
    "polyder": row(array("4")),
    "polyint": row(array("4")),
    "polyfit": row(array("6"), array("6"), call=lambda f, x, y: f(x, y, 2)),
    "roots": row(array("4"), call=lambda f, x: f(x, strip_zeros=False)),
    "matmul": row(array("n m"), array("m d")),
    "matvec": row(array("n m"), array("m")),
    "vecmat": row(array("n"), array("n m")),
    "tensordot": row(array("n m"), array("m d"), call=lambda f, x, y: f(x, y, axes=1)),
    "kron": row(array("n d"), array("2 2")),
    "cross": row(array("n 3"), array("n 3")),
    "einsum": row(array("n m"), array("m d"), call=lambda f, x, y: f("ij,jk->ik", x, y)),
    "apply_along_axis": row(ND, call=lambda f, x: f(lambda v: v * v.sum(), 0, x)),
    "apply_over_axes": row(CUBE, call=lambda f, x: f(_sums, x, (0, 1))),
    "vectorize": row(ND, N, call=lambda f, x, y: f(lambda u, v: u * v.sum(), signature="(d),(n)->(d)")(x, y)),
    "ix_": row(MASK, N, call=lambda f, p, x: x[f(p.argsort())[0]], argnums=1),
}


def _sums(x, axis):  # type: ignore[no-untyped-def]
    return x.sum(axis, keepdims=True)


ROWS = ELEMENTWISE | REDUCTIONS | ARRAYS | PRODUCTS
NOT_EVERYWHERE = frozenset(("minmax", "top_k"))  # JAX 0.10 lacks them

LEFT_OUT = {
    "boolean output": """
        all allclose any array_equal array_equiv equal greater greater_equal isclose iscomplex iscomplexobj isfinite
        isin isinf isnan isneginf isposinf isreal isrealobj isscalar less less_equal logical_and logical_not logical_or
        logical_xor not_equal signbit iterable""",
    "integer output": """
        argmax argmin argpartition argsort argwhere count_nonzero digitize flatnonzero lexsort nanargmax nanargmin
        nonzero searchsorted""",
    "integer arguments": """
        bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor diag_indices gcd invert lcm left_shift packbits ravel_multi_index right_shift tril_indices
        triu_indices unpackbits unravel_index mask_indices""",
    "its output depends on the shape alone": """
        diag_indices_from empty_like ndim ones_like shape size tril_indices_from triu_indices_from zeros_like""",
    "creates arrays": """
        arange bartlett blackman empty eye from_dlpack frombuffer fromfile fromfunction fromiter fromstring hamming
        hanning identity indices kaiser ones tri zeros load""",
    "static Python values only": """
        array_repr array_str broadcast_shapes can_cast einsum_path get_printoptions isdtype issubdtype printoptions
        promote_types result_type save savez set_printoptions""",
    "wraps a Python function that has no derivative": "frompyfunc",
    "the shape of its output depends on the values": "trim_zeros",
    "counts of points, which jump; their weights are those of histogram": "histogram2d histogramdd",
    "values of unique_values beside integers": "unique_all unique_counts unique_inverse",
    "neighbours in the dtype: no function of real numbers": "nextafter spacing",
}
