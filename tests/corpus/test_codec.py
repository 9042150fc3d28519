"""Whatever the codec accepts comes back bit for bit."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import math
import struct
from typing import Any, NamedTuple

import attrs
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoprop._errors import CorpusError
from autoprop.corpus import arrays, codec

NUMPY = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32"]
NUMPY += ["float64", "complex64", "complex128"]
NARROW = sorted(
    name for name, kind in vars(ml_dtypes).items() if isinstance(kind, type) and issubclass(kind, np.generic)
)
SHAPES = [(), (0,), (3, 0, 2), (5,), (4, 4), (100,)]


class Pair(NamedTuple):
    """
    A namedtuple.
    """

    first: Any
    second: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    """
    A dataclass whose __post_init__ changes a field.
    """

    x: Any
    twice: Any = dataclasses.field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", "set by __post_init__")


@dataclasses.dataclass(slots=True)
class Slotted:
    """
    A dataclass with slots.
    """

    x: Any


@attrs.define
class Private:
    """
    An attrs class whose field has an underscore.
    """

    _x: Any


class Colour(enum.Enum):
    """
    An enum.
    """

    RED = 1


class Loose:
    """
    A class that is only registered as a pytree node.
    """

    def __init__(self, child: Any, name: str) -> None:
        self.child, self.name = child, name


jax.tree_util.register_pytree_node(
    Loose, lambda node: ((node.child,), node.name), lambda name, kids: Loose(*kids, name)
)


def back(value: Any) -> Any:
    """
    Return a value after its way through JSON text.
    """
    return codec.decode(json.loads(json.dumps(codec.encode(value))))


def random_bits(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """
    Return an array whose bits are random.
    """
    size = math.prod(shape)
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).reshape(shape)


@pytest.mark.parametrize("name", [*NUMPY, *NARROW])
def test_arrays_keep_their_bits(name: str) -> None:
    """
    Every dtype with random bits, in every kind of shape, comes back with its dtype, shape and bits.
    """
    dtype = np.dtype(name) if name in NUMPY else np.dtype(getattr(ml_dtypes, name))
    for seed, shape in enumerate(SHAPES):
        array = random_bits(dtype, shape, seed)
        found = back(array)
        assert (type(found), found.dtype, found.shape) == (np.ndarray, dtype, shape)
        assert found.tobytes() == array.tobytes()


@settings(max_examples=150, deadline=None, database=None)
@given(st.sampled_from(NUMPY + NARROW), st.sampled_from([(), (1,), (2, 3), (65,)]), st.data())
def test_any_bits_of_any_dtype(name: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    """
    Bits that Hypothesis chooses come back, and the copy can be written to.
    """
    dtype = np.dtype(name) if name in NUMPY else np.dtype(getattr(ml_dtypes, name))
    count = math.prod(shape) * dtype.itemsize
    raw = data.draw(st.binary(min_size=count, max_size=count))
    raw = bytes(byte & 1 for byte in raw) if name == "bool" else raw
    array = np.frombuffer(raw, dtype).reshape(shape)
    found = back(array)
    assert found.tobytes() == raw
    assert found.flags.writeable


@pytest.mark.parametrize(
    ("array", "form"),
    [
        (np.array([-0.0, 0.1, np.nan, -np.inf], np.float32), {"v": [-0.0, 0.1, "nan", "-inf"]}),
        (np.array([1e-45, 3.4028235e38], np.float32), {"v": [1e-45, 3.4028235e38]}),
        (np.array([5e-324]), {"v": [5e-324]}),
        (np.array([2**64 - 1], np.uint64), {"v": [2**64 - 1]}),
        (np.array([-(2**63)], np.int64), {"v": [-(2**63)]}),
        (np.array([1 - 2j], np.complex64), {"v": [[1.0, -2.0]]}),
        (np.array([0.1], ml_dtypes.bfloat16), {"v": [0.100098]}),
        (np.array([0x7FA00001], np.uint32).view(np.float32), {"hex": "0100a07f", "repr": "[nan]"}),
    ],
)
def test_values_are_decimal_where_that_is_exact(array: np.ndarray[Any, Any], form: dict[str, Any]) -> None:
    """
    Short arrays are readable decimals if these give back every bit, and hexadecimal otherwise.
    """
    encoded = codec.encode(array)
    assert {key: encoded[key] for key in encoded.keys() - {"$", "dtype", "shape"}} == form
    assert back(array).tobytes() == array.tobytes()


def test_long_arrays_are_deflated() -> None:
    """
    Above 64 elements the bits are compressed, so that a case stays one line per leaf.
    """
    assert set(codec.encode(np.zeros(64))) == {"$", "dtype", "shape", "v"}
    assert set(codec.encode(np.zeros(65))) == {"$", "dtype", "shape", "z64"}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(10.0)[::-3],
        np.asfortranarray(np.arange(4.0).reshape(2, 2)),
        np.array([1, 258], ">i2"),
        np.array([1.5], ">f8"),
        np.array(["ä", ""]),
        np.array([b"ab"]),
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([1.5, -0.0, np.nan], np.longdouble),
    ],
)
def test_other_layouts_and_dtypes(array: np.ndarray[Any, Any]) -> None:
    """
    Strides, byte orders, text, dates and long doubles come back with equal elements of the same dtype.
    """
    found = back(array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert arrays.raw(found) == arrays.raw(array)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "int4", "bool", "complex64", "float8_e4m3fn"])
@pytest.mark.parametrize("weak", [False, True])
def test_jax_arrays_keep_weak_types(name: str, weak: bool) -> None:
    """
    A JAX array comes back as one, with its dtype, its bits and whether it is weakly typed, in any rank.
    """
    for value in (0, 1):
        array = jnp.full((), value) if weak else jnp.asarray(value, name)
        array = jnp.broadcast_to(array, (2,)) if value else array
        found = back(array)
        assert isinstance(found, jax.Array)
        assert (found.dtype, found.shape, found.weak_type) == (array.dtype, array.shape, array.weak_type)
        assert np.asarray(found).tobytes() == np.asarray(array).tobytes()


@pytest.mark.parametrize("weak", [False, True])
def test_jax_arrays_keep_nan_payloads(weak: bool) -> None:
    """
    Loading computes nothing: payloads of NaN and subnormals survive on the device, weakly typed or not.
    """
    bits = np.array([0x7FA00001, 0x80000001, 0xFFC00001], np.uint32)
    encoded = codec.encode(jnp.asarray(bits.view(np.float32))) | ({"weak": True} if weak else {})
    found = codec.decode(encoded)
    assert np.asarray(found).view(np.uint32).tolist() == bits.tolist()
    assert found.weak_type is weak


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys(impl: str) -> None:
    """
    Typed PRNG keys of every implementation come back as keys that draw the same.
    """
    for key in (jax.random.key(7, impl=impl), jax.random.split(jax.random.key(7, impl=impl), 2)):
        found = back(key)
        assert (found.dtype, found.shape) == (key.dtype, key.shape)
        assert np.array_equal(jax.random.key_data(found), jax.random.key_data(key))


def test_wide_jax_arrays_need_x64() -> None:
    """
    A float64 JAX array is refused with the remedy when x64 is off, not narrowed.
    """
    with jax.enable_x64(True):
        encoded = codec.encode(jnp.asarray([0.1], jnp.float64))
        assert codec.decode(encoded).dtype == np.float64
    with jax.enable_x64(False), pytest.raises(CorpusError, match="set jax_enable_x64"):
        codec.decode(encoded)


@pytest.mark.parametrize(
    "scalar",
    [np.float32(0.1), np.int64(-1), np.bool_(True), np.complex64(1j), ml_dtypes.bfloat16(2.5), np.str_("a")],
    ids=lambda scalar: type(scalar).__name__,
)
def test_numpy_scalars(scalar: Any) -> None:
    """
    A NumPy scalar comes back as a scalar of its own type.
    """
    assert (type(back(scalar)), back(scalar)) == (type(scalar), scalar)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -1, 2**53, 2**53 + 1, -(10**40), 0.1, -0.0, math.inf, -math.inf, 1j, complex(-0.0, 1)),
        *("", "ä\u2028\n", "\ud800", b"", b"\x00\xff", b"\x00" * 1000),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_python_scalars(value: Any) -> None:
    """
    Python scalars, text and bytes come back with their type and value.
    """
    found = back(value)
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_long_integers() -> None:
    """
    An integer too long for Python to print comes back, alone and as the key of a dict.
    """
    assert back(1 << 60000) == 1 << 60000
    assert back({1 << 60000: 1}) == {1 << 60000: 1}


def test_python_nan_keeps_its_bits() -> None:
    """
    A Python NaN comes back with its sign and payload, alone and inside a complex.
    """
    for bits in (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001):
        (nan,) = struct.unpack("<d", struct.pack("<Q", bits))
        assert struct.unpack("<Q", struct.pack("<d", back(nan))) == (bits,)
        assert struct.unpack("<Q", struct.pack("<d", back(complex(0.0, nan)).imag)) == (bits,)


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3), st.binary(max_size=3)
)
KEYS = st.one_of(st.text(max_size=3), st.just("$"), st.integers(), st.tuples(st.integers(), st.text(max_size=1)))


@settings(max_examples=150, deadline=None, database=None)
@given(
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(KEYS, inner, max_size=3),
            st.builds(Pair, inner, inner),
            st.builds(Private, inner),
            st.builds(Slotted, inner),
        ),
        max_leaves=8,
    )
)
def test_trees(tree: Any) -> None:
    """
    Nested containers come back equal, with every type kept and every dict in its order.
    """
    assert repr(back(tree)) == repr(tree)


def test_no_constructor_runs() -> None:
    """
    Objects are rebuilt from their fields alone: neither ``__init__`` nor ``__post_init__`` runs.
    """
    value = object.__new__(Frozen)
    object.__setattr__(value, "x", 1)
    object.__setattr__(value, "twice", "stored")
    assert back(value) == value


def test_static_values() -> None:
    """
    Values that statics often are come back as themselves: dtypes, scalar types, members of enums.
    """
    for value in (np.dtype("bfloat16"), np.float32, jnp.float32, jnp.bool_, ml_dtypes.bfloat16, Colour.RED):
        assert back(value) is value or back(value) == value


def test_registered_nodes() -> None:
    """
    A class registered as a pytree node comes back through its registration.
    """
    found = back(Loose({"w": 1.5}, "layer"))
    assert (type(found), found.child, found.name) == (Loose, {"w": 1.5}, "layer")


def test_ordered_dicts() -> None:
    """
    An OrderedDict comes back as one, in its order.
    """
    value = collections.OrderedDict(b=1, a=2)
    assert (type(back(value)), back(value)) == (collections.OrderedDict, value)


class Extra(Frozen):
    """
    A dataclass that declares no field of its own.
    """


def _extra() -> Any:
    value = Extra(1)
    object.__setattr__(value, "cache", 2)
    return value


def _local() -> Any:
    @dataclasses.dataclass
    class Local:
        x: int = 1

    return Local()


def _cycle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: jnp.sin, r"arg: is the callable 'sin'; functions are not stored"),
        (lambda: {"w": [print]}, r"arg\['w'\]\[0\]: is the callable 'print'"),
        (lambda: jax.tree_util.Partial(jnp.sin, 1.0), "holds a function|is the callable"),
        (lambda: int, "is the callable 'int'"),
        (object, "is a object, which cannot be stored"),
        (lambda: np.array([None]), "dtype object cannot be stored"),
        (lambda: np.array([(1, 2.0)], "i4,f4"), "cannot be stored; use a numeric or bool dtype"),
        (lambda: np.ma.array([1]), "subclass that would be lost"),
        (lambda: collections.Counter(a=1), "Counter, which cannot be stored"),
        (_extra, "holds more or less than its declared fields"),
        (_local, "defined inside a function"),
        (_cycle, "nested more than 100 deep, or inside itself"),
        (lambda: 1 << 70000, "70001 bits"),
    ],
)
def test_what_is_not_stored(make: Any, reason: str) -> None:
    """
    What cannot come back the same is refused, with its place in the tree and the reason.
    """
    with pytest.raises(CorpusError, match=reason):
        codec.encode(make(), name="arg")


def test_tracers_are_refused() -> None:
    """
    Encoding inside a transformation is refused, since there is no value to keep.
    """
    with pytest.raises(CorpusError, match="is a tracer"):
        jax.eval_shape(lambda x: codec.encode(x), 1.0)


def test_canonical_form_ignores_how_bits_are_spelt() -> None:
    """
    Decimal, hexadecimal and compressed spellings of one array are one canonical form.
    """
    decimal = codec.encode(np.array([1.0, 2.0], np.float32))
    bits = {"$": "np", "dtype": "float32", "shape": [2], "hex": "0000803f00000040", "repr": "any"}
    packed = {"$": "np", "dtype": "float32", "shape": [2]} | arrays.encode_bytes(
        bytes.fromhex(bits["hex"]), short=False
    )
    expected = {"$": "np", "dtype": "float32", "shape": [2], "hex": "0000803f00000040"}
    assert [codec.canonical(form) for form in (decimal, bits, packed)] == [expected] * 3
