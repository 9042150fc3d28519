"""The report of a finding, and the source of its point."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import attrs
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from autoprop._environment import Environment
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._render import replay_command
from autoprop._source import assignments
from autoprop._verdict import Mismatch


class Pair(NamedTuple):
    """
    A named tuple.
    """

    left: Any
    right: Any


@dataclasses.dataclass
class Layer:
    """
    A dataclass.
    """

    weight: Any
    bias: Any = None


@attrs.frozen
class Hidden:
    """
    An attrs class whose argument and attribute differ in name.
    """

    _scale: Any


NAMES = {
    "jax": jax,
    "jnp": jnp,
    "np": np,
    "Pair": Pair,
    "Layer": Layer,
    "Hidden": Hidden,
    "OrderedDict": collections.OrderedDict,
}


def evaluate(value: Any) -> Any:
    """
    Return what the printed source of a value evaluates to.
    """
    namespace = dict(NAMES)
    exec(assignments(["x"], [value])[0], namespace)
    return namespace["x"]


def described(tree: Any) -> list[Any]:
    """
    Return what tells two trees apart: type, dtype, shape and bits of each leaf, and the tree.
    """
    found: list[Any] = []
    if isinstance(tree, dict):
        return [type(tree), [(key, described(item)) for key, item in tree.items()]]
    if isinstance(tree, (list, tuple)):
        return [type(tree), [described(item) for item in tree]]
    if dataclasses.is_dataclass(tree) or attrs.has(type(tree)):
        return (
            [type(tree), [(key, described(item)) for key, item in vars(tree).items()]]
            if hasattr(tree, "__dict__")
            else [type(tree), [described(getattr(tree, field.name)) for field in attrs.fields(type(tree))]]
        )
    if isinstance(tree, jax.Array) and jnp.issubdtype(tree.dtype, jax.dtypes.prng_key):
        return [str(tree.dtype), tree.shape, np.asarray(jax.random.key_data(tree)).tobytes()]
    if isinstance(tree, (jax.Array, np.ndarray, np.generic)):
        kind = "jax" if isinstance(tree, jax.Array) else type(tree)
        found += [
            kind,
            np.asarray(tree).dtype,
            np.shape(tree),
            np.asarray(tree).tobytes(),
            getattr(tree, "weak_type", False),
        ]
        return found
    return [type(tree), repr(tree)]


def bits(dtype: Any, shape: tuple[int, ...], seed: int) -> Any:
    """
    Return an array of random bits, NaNs replaced by the usual one.
    """
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.random.default_rng(seed).integers(0, 256, size, np.uint8)
    if dtype == np.bool_:
        raw &= 1
    if dtype.name in ("int4", "uint4", "int2", "uint2"):
        return (raw & 1).astype(dtype).reshape(shape)
    if dtype.name.startswith("float4") or dtype.name.startswith("float6"):
        raw &= 15
    array = raw.view(dtype).reshape(shape).copy()
    if dtype.kind not in "biu":
        array[np.isnan(array)] = np.array(1.5).astype(dtype)
    return array


NARROW = [
    "float16",
    "bfloat16",
    "float32",
    "float8_e4m3fn",
    "float8_e5m2",
    "complex64",
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "int4",
]
WIDE = ["float64", "complex128", "int64", "uint64"]


@pytest.mark.parametrize("dtype", [*NARROW, *WIDE])
def test_numpy_arrays_evaluate_to_the_same_bits(dtype: str) -> None:
    """
    The source of a NumPy array of random bits evaluates to those bits.
    """
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    for seed, shape in enumerate([(), (3,), (0, 2), (2, 5), (5, 12)]):
        value = bits(kind, shape, seed)
        assert described(evaluate(value)) == described(value)


@pytest.mark.parametrize("dtype", NARROW)
def test_jax_arrays_evaluate_to_the_same_bits(dtype: str) -> None:
    """
    The source of a JAX array of random bits evaluates to those bits.
    """
    for seed, shape in enumerate([(), (3,), (2, 5)]):
        value = jnp.asarray(bits(jnp.dtype(dtype), shape, seed))
        assert described(evaluate(value)) == described(value)


@pytest.mark.parametrize("dtype", WIDE)
def test_wide_jax_arrays_evaluate_to_the_same_bits(dtype: str) -> None:
    """
    The source of a 64-bit JAX array evaluates to those bits where 64-bit values are enabled.
    """
    with jax.enable_x64(True):
        value = jnp.asarray(bits(dtype, (7,), 1))
        assert described(evaluate(value)) == described(value)


SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4028235e38, 0.1]
VALUES = {
    "special": jnp.array(SPECIAL, jnp.float32),
    "minus nan": np.array([-np.nan, np.nan]),
    "complex parts": np.array([complex(-0.0, 0.0), complex(0.0, float("-inf")), complex(float("nan"), -0.0)]),
    "zeros": jnp.zeros((7, 30)),
    "minus zeros": jnp.full((100,), -0.0, jnp.float32),
    "constant": np.full((100,), 0.1, np.float32),
    "constant bfloat16": jnp.full((100,), 0.1, jnp.bfloat16),
    "one other": jnp.zeros((10, 20)).at[3, 4].set(jnp.nan),
    "weak": jnp.asarray(0.1),
    "strong": jnp.array(0.1, jnp.float32),
    "key": jax.random.key(7),
    "key split": jax.random.split(jax.random.key(7), 2),
    "key rbg": jax.random.key(3, impl="rbg"),
    "raw key": jax.random.PRNGKey(5),
    "scalars": [1, -2.5, True, None, "a'b", b"\0", 1 + 2j, float("nan"), float("-inf"), complex(-0.0, float("nan"))],
    "numpy scalars": [np.float32(0.1), np.int8(-3), np.bool_(True), jnp.bfloat16.dtype.type(0.5), np.complex64(1j)],
    "dict": {"w": jnp.array([1.0]), "b": (jnp.array(2), [])},
    "dict keys": {1: 2.0, ("a", 2): ()},
    "tuple of one": (jnp.array([1.0]),),
    "named tuple": Pair(np.array([1]), {"a": None}),
    "dataclass": Layer(jnp.ones((2,)), bias=0.5),
    "private attribute": Hidden(jnp.ones((2,))),
    "ordered": collections.OrderedDict(b=1, a=2),
    "deep": [[[[[1.5]]]]],
    "long": {
        f"layer_{i}": {"kernel": jnp.arange(12.0).reshape(3, 4) / 7, "bias": jnp.arange(40.0) / 3} for i in range(3)
    },
}


@pytest.mark.parametrize("name", VALUES)
def test_values_evaluate_to_themselves(name: str) -> None:
    """
    The source of a tree evaluates to the same tree, types and bits.
    """
    assert described(evaluate(VALUES[name])) == described(VALUES[name])


def test_source_is_short_where_it_can_be() -> None:
    """
    Floats are written with the fewest digits, constant arrays by a pattern, keys by their seed.
    """
    arrays = jnp.array([0.1, 16777216.0, 1e-30]), jnp.zeros((3, 200)), jax.random.key(4)
    assert assignments(["x", "args[1]", "key"], arrays) == [
        "x = jnp.array([0.1, 16777216.0, 1e-30], dtype=jnp.float32)",
        "arg1 = jnp.zeros((3, 200), dtype=jnp.float32)",
        "key = jax.random.key(4)",
    ]


def test_what_cannot_be_written_is_told() -> None:
    """
    A large array and an object without a literal are elided; a comment names each of them by its path.
    """
    value = {"w": jnp.arange(100.0), "lock": object(), "f": np.mean}
    (text,) = assignments(["x"], [value])
    assert text.splitlines() == [
        "# x['w']: float32[100], see the saved case",
        "# x['lock']: a builtins.object",
        "x = {'w': ..., 'lock': ..., 'f': numpy.mean}",
    ]


def test_a_nan_with_other_bits_is_told() -> None:
    """
    A NaN whose payload no literal makes gets a comment.
    """
    value = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert assignments(["x"], [value]) == ["# x: a NaN with other bits\nx = np.array([jnp.nan], dtype=np.float32)"]


@pytest.mark.parametrize("name", ["long", "special", "scalars"])
def test_source_lines_fit(name: str) -> None:
    """
    Long source is broken into lines.
    """
    assert max(map(len, assignments(["x"], [VALUES[name]])[0].splitlines())) <= 76


ENVIRONMENT = Environment(
    python="3.12.1", jax="0.11.2", jaxlib="0.11.2", numpy="2.5.5", hypothesis="6.170.17", autoprop="0.1.0",
    platform="Linux x86_64", device="cpu", x64=False, matmul_precision="default",
)  # fmt: skip
WORST = Mismatch(
    leaf="params['b']", index=(3,), routes=(("⟨J t, c⟩", "1.777233"), ("⟨t, Jᵀc⟩", "1.791405")), difference=0.0141720,
    bound=3.6e-06, origin="64 · eps(float32) · scale 0.47", count=2, total=8,
)  # fmt: skip


def found(**changes: Any) -> Finding:
    """
    Return a finding.
    """
    return Finding(
        property="adjoint",
        formula="⟨J t, c⟩ = ⟨t, Jᵀc⟩",
        target="td_loss",
        point=Point((jnp.array([1.0, -2.0]), 3), seed=5, family="ties"),
        mismatches=(WORST,),
        environment=ENVIRONMENT,
        argnames=("x", "n"),
    ).replace(**changes)


def test_report_has_its_parts_in_order() -> None:
    """
    Law and target, worst leaf with both numbers, distance, point, cause, advice, next command, the rest.
    """
    finding = found(
        mismatches=(
            WORST,
            attrs.evolve(WORST, leaf="value", index=(), routes=(("a", "1"), ("b", "2")), count=1, total=1),
        ),
        cause="loss.py:12 in softplus",
        notes=("say intended=('stop_gradient',)",),
        case="tests/corpus/td_loss/adjoint-1f3a9c02.json",
    )
    assert (
        str(finding)
        == """\
adjoint: ⟨J t, c⟩ = ⟨t, Jᵀc⟩ fails for td_loss
  params['b'][3]
    ⟨J t, c⟩  1.777233
    ⟨t, Jᵀc⟩  1.791405
  difference 0.0142, allowed 3.6e-06 (64 · eps(float32) · scale 0.47)
  at
    x = jnp.array([1.0, -2.0], dtype=jnp.float32)
    n = 3
  directions from seed 5; values from the family 'ties'
  cause: loss.py:12 in softplus
  note: say intended=('stop_gradient',)
  saved as tests/corpus/td_loss/adjoint-1f3a9c02.json
  replay: autoprop replay 1f3a9c02
  2 of 8 elements of params['b'] disagree (25%)
  1 more mismatch:
    value  1 of 1  a 1  b 2"""
    )


def test_short_report_leaves_out_what_is_not_known() -> None:
    """
    Without a bound, a cause and a saved case the report says nothing of them.
    """
    mismatch = Mismatch("x", (), (("grad", "raises TypeError"),), None, None, "a gradient must exist")
    assert (
        str(found(formula="adjoint", mismatches=(mismatch,), point=Point(())))
        == """\
adjoint: fails for td_loss
  x
    grad  raises TypeError
  a gradient must exist
  at
    no arguments
  directions from seed 0"""
    )


def test_long_origin_has_its_own_lines() -> None:
    """
    Where the bound comes from is broken into lines that fit.
    """
    lines = str(found(mismatches=(attrs.evolve(WORST, origin="the larger number and so on " * 5),))).splitlines()
    assert lines[4] == "  difference 0.0142, allowed 3.6e-06"
    assert lines[5].startswith("    (the larger number")
    assert max(map(len, lines)) <= 80


def test_report_of_a_users_own_test_has_no_directions() -> None:
    """
    A case of a ``@given`` test shows its error and its arguments.
    """
    mismatch = Mismatch("test", (), (("raised", "AssertionError: no"),), None, None, "")
    text = str(found(property="given", formula="", target="tests/test_x.py::test_f", mismatches=(mismatch,)))
    assert (
        text
        == """\
given: fails for tests/test_x.py::test_f
  test
    raised  AssertionError: no
  at
    x = jnp.array([1.0, -2.0], dtype=jnp.float32)
    n = 3"""
    )


def test_table_of_others_is_cut() -> None:
    """
    At most ten further mismatches are listed; the number of the others is told.
    """
    text = str(found(mismatches=(WORST,) * 14))
    assert text.splitlines()[-12:][0] == "  13 more mismatches:"
    assert text.splitlines()[-1] == "    … and 3 more"


def test_wide_floats_are_asked_for() -> None:
    """
    A point found with 64-bit values on says how to switch them on.
    """
    text = str(found(environment=attrs.evolve(ENVIRONMENT, x64=True)))
    assert text.splitlines()[6] == '    jax.config.update("jax_enable_x64", True)'


@pytest.mark.parametrize(
    ("case", "command"),
    [
        ("tests/corpus/m-f/jit-0123abcd.json", "autoprop replay 0123abcd"),
        ("gradients/m-f/jit-0123abcd.json", "autoprop replay 0123abcd --corpus gradients"),
    ],
)
def test_replay_command(case: str, command: str) -> None:
    """The command to replay a case names its corpus, unless that is the default one."""
    assert replay_command(case) == command
