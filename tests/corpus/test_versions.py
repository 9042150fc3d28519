"""Cases written under another version of JAX load with every bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop.corpus import Case, Store, to_finding
from autoprop.corpus.record import dumps, fingerprint

DATA = Store(Path(__file__).parent / "data")


def bits(value: Any) -> str:
    """
    Return the bits of a leaf in hex.
    """
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value).tobytes().hex()


@pytest.fixture(scope="module")
def law() -> Case:
    """
    Load the stored case of a law.
    """
    return DATA.load(*DATA.cases("mylib.losses:mse"))


@pytest.fixture(scope="module")
def given() -> Case:
    """
    Load the stored case of a ``@given`` test.
    """
    return DATA.load(*DATA.cases("tests/test_x.py::test_f"))


def test_cases_were_written_elsewhere(law: Case, given: Case) -> None:
    """
    The stored cases say which JAX wrote them.
    """
    assert [case.environment.jax for case in (law, given)] == ["0.12.0.1", "0.12.0.1"]


def test_text_is_the_same_here(law: Case, given: Case) -> None:
    """
    The text written here is the very text that the other version wrote, under the same name.
    """
    for case in (law, given):
        path = Path(case.name)
        assert dumps(case) == path.read_text("utf-8")
        assert path.stem == f"{case.law}-{fingerprint(case)[:8]}"


LAW_LEAVES = {
    "w": ("float32", "cdcccc3d000000800100a07f01000000"),
    "weak": ("float32", "cdcccc3dcdcccc3d"),
    "scalar": ("float32", "00000040"),
    "half": ("bfloat16", "c03f0080"),
    "quarter": ("float8_e4m3fn", "307e"),
    "nibble": ("int4", "0807"),
    "mask": ("bool", "0100"),
    "z": ("complex64", "0000803f000000c0"),
    "long": ("int32", np.arange(65, dtype=np.int32).tobytes().hex()),
    "key": ("key<fry>", "000000002a000000"),
    "rbg": ("key<rbg>", "000000002a000000000000002a000000"),
}


def test_bits_of_a_law(law: Case) -> None:
    """
    Every leaf of the stored point has the dtype and bits it was written with.
    """
    params, *others = to_finding(law).point.primals
    assert {name: (str(leaf.dtype), bits(leaf)) for name, leaf in params.items()} == LAW_LEAVES
    assert [name for name, leaf in params.items() if getattr(leaf, "weak_type", False)] == ["weak", "scalar"]
    assert repr(others) == "[3, 'mean', (None, True, -0.0, inf)]"


def test_loading_a_law_and_keeping_it_again_changes_nothing(law: Case) -> None:
    """
    A finding that is loaded here and stored again is the same case.
    """
    from autoprop.corpus import from_finding

    assert fingerprint(from_finding(to_finding(law))) == fingerprint(law)


GIVEN_ARRAYS = {
    "x": ("<f8", "9a9999999999b93f000000000000f87f000000000000f0ff0100000000000000"),
    "empty": ("<f2", ""),
    "u": ("<u8", "ff" * 8),
    "be": (">f8", "3ff8000000000000"),
    "scalar": ("<f4", "cdcccc3d"),
}


def test_bits_of_given_arguments(given: Case) -> None:
    """
    Every stored argument comes back with its type and bits.
    """
    values = given.values()
    assert {name: (values[name].dtype.str, bits(values[name])) for name in GIVEN_ARRAYS} == GIVEN_ARRAYS
    assert values["empty"].shape == (0, 3)
    assert type(values["scalar"]) is np.float32
    assert (str(values["narrow"].dtype), bits(values["narrow"])) == ("float8_e5m2", "010203")
    assert (values["big"], repr(values["z"]), values["raw"]) == (2**70, "(1-0j)", b"\x00\xff")
    assert values["odd"] == {1: "one", (2, 3): ["$"]}
    assert values["dtype"] is jnp.bfloat16
