"""Functions of `jax.numpy.linalg` and `jax.numpy.fft`."""

import jax.numpy as jnp

from hypothesis_jax import array, static

from .rows import COMPLEX, ND, SPD, SQUARE, N, row, rows

WAVE = array("n d", jnp.complex64)

LINALG = {
    "cholesky": row(SPD),
    "cond": row(SQUARE),
    "cross": row(array("n 3"), array("n 3")),
    "det": row(SQUARE),
    "diagonal": row(ND),
    **rows("eig eigvals", array("3 3")),
    **rows("eigh eigvalsh", SQUARE),
    "inv": row(SQUARE),
    "lstsq": row(array("4 2"), array("4"), call=lambda f, a, b: f(a, b)[0]),
    "matmul": row(array("n m"), array("m d")),
    "matrix_norm": row(ND, static("fro", "nuc", 1, 2, -2), call=lambda f, x, order: f(x, ord=order)),
    "matrix_power": row(SQUARE, static(2, 3, 0, -1)),
    "matrix_transpose": row(ND),
    "multi_dot": row(array("n m"), array("m d"), array("d 2"), call=lambda f, x, y, z: f([x, y, z])),
    "norm": row(ND),
    "outer": row(N, array("m")),
    "pinv": row(array("4 2")),
    "qr": row(array("4 2")),
    "slogdet": row(SQUARE),
    "solve": row(SQUARE, array("n d")),
    "svd": row(array("4 2"), call=lambda f, x: f(x, full_matrices=False)),
    "svdvals": row(ND),
    "tensordot": row(array("n m"), array("m d"), call=lambda f, x, y: f(x, y, axes=1)),
    "tensorinv": row(array("4 2 2"), call=lambda f, x: f(x, ind=1)),
    "tensorsolve": row(array("4 2 2"), array("4")),
    "trace": row(ND),
    "vecdot": row(ND, ND),
    "vector_norm": row(N, static(2, 1, 3, 0, jnp.inf, -jnp.inf), call=lambda f, x, order: f(x, ord=order)),
}
LINALG_LEFT_OUT = {"integer output": "matrix_rank"}

FFT = {
    **rows("fft ifft hfft irfft fftshift ifftshift", COMPLEX),
    **rows("fft2 ifft2 fftn ifftn irfft2 irfftn", WAVE),
    **rows("rfft ihfft", N),
    **rows("rfft2 rfftn", ND),
}
FFT_LEFT_OUT = {"creates arrays": "fftfreq rfftfreq"}
