"""A case says the same before and after it was a file."""

from __future__ import annotations

import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._environment import Environment
from autoprop._errors import CorpusError
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._verdict import Mismatch
from autoprop.corpus import Case, dumps, from_arguments, from_finding, loads, to_finding
from autoprop.corpus.record import fingerprint

ENVIRONMENT = Environment(
    python="3.12.1",
    jax="0.11.2",
    jaxlib="0.11.2",
    numpy="2.5.5",
    hypothesis="6.170.17",
    autoprop="0.1.0",
    platform="Linux x86_64",
    device="cpu",
    x64=False,
    matmul_precision="default",
)


def finding(**changes: Any) -> Finding:
    """
    Return a finding, with some attributes changed.
    """
    primals = ({"w": np.array([0.5, -0.0], np.float32)}, 3)
    mismatch = Mismatch("params['w']", (1,), (("jit", "1.5"), ("eager", "nan")), math.nan, 1e-6, "64 eps", 1, 2)
    base = Finding(
        property="jit",
        formula="grad(jit(f)) = grad(f)",
        target="mylib.losses:mse",
        point=Point(primals, seed=7, family="zeros"),
        mismatches=(mismatch,),
        environment=ENVIRONMENT,
        argnames=("params", "n"),
        cause="losses.py:3 in mse",
        notes=("⟨u, Jv⟩ was NaN.",),
    )
    return base.replace(**changes)


TEXT = """{
  "autoprop_case": 1,
  "target": "mylib.losses:mse",
  "law": "jit",
  "preview": "params = {'w': float32[2] [0.5, -0]}, n = 3",
  "arguments": {
    "primals": {
      "$": "tuple",
      "v": [
        {"w": {"$": "np", "dtype": "float32", "shape": [2], "v": [0.5, -0.0]}},
        3
      ]
    },
    "seed": 7,
    "family": "zeros"
  },
  "argnames": ["params", "n"],
  "error": "jit: params['w'][1]: jit gives 1.5, eager gives nan",
  "mismatches": [
    {
      "leaf": "params['w']",
      "index": [1],
      "routes": [["jit", "1.5"], ["eager", "nan"]],
      "difference": "nan",
      "bound": 1e-06,
      "origin": "64 eps",
      "count": 1,
      "total": 2
    }
  ],
  "formula": "grad(jit(f)) = grad(f)",
  "cause": "losses.py:3 in mse",
  "notes": ["⟨u, Jv⟩ was NaN."],
  "xfail": null,
  "x64": false,
  "environment": {
    "python": "3.12.1",
    "jax": "0.11.2",
    "jaxlib": "0.11.2",
    "numpy": "2.5.5",
    "hypothesis": "6.170.17",
    "autoprop": "0.1.0",
    "platform": "Linux x86_64",
    "device": "cpu",
    "x64": false,
    "matmul_precision": "default"
  },
  "created": "2030-01-02"
}
"""


def changed(**changes: Any) -> str:
    """
    Return the text above with some of its fields changed; None leaves a field out.
    """
    document = json.loads(TEXT) | changes
    return json.dumps({key: value for key, value in document.items() if value != "left out"})


def test_text_of_a_case() -> None:
    """
    A case is a text with its keys in a fixed order, the format first, and one line for each leaf.
    """
    assert dumps(from_finding(finding()).replace(created="2030-01-02")) == TEXT


def test_text_comes_back() -> None:
    """
    Reading a text and writing it again changes nothing.
    """
    assert dumps(loads(TEXT, name="case.json")) == TEXT


def test_case_equals_what_is_read() -> None:
    """
    A case without NaN equals the case that is read from its text.
    """
    mismatch = Mismatch("value", (), (("a", "1"), ("b", "2")), 1.0, None, "exact")
    case = from_finding(finding(mismatches=(mismatch,)), xfail="known since 2030-01-01")
    assert loads(dumps(case), name="case.json") == case


def test_finding_comes_back() -> None:
    """
    The finding of a case has the point's bits, the mismatches and all that the report prints; its case is the file.
    """
    found = to_finding(loads(TEXT, name="case.json"))
    expected = finding()
    kept = ("property", "target", "formula", "argnames", "cause", "notes", "environment")
    assert [getattr(found, name) for name in kept] == [getattr(expected, name) for name in kept]
    assert (found.point.seed, found.point.family, found.case) == (7, "zeros", "case.json")
    assert found.point.primals[0]["w"].tobytes() == np.array([0.5, -0.0], np.float32).tobytes()
    assert found.point.primals[1] == 3
    assert found.mismatch.routes == expected.mismatch.routes
    assert math.isnan(found.mismatch.difference or 0.0)


def test_given_arguments_come_back() -> None:
    """
    The arguments of a user's own ``@given`` test come back by name.
    """
    values = {"x": jnp.asarray([1.0, 2.0], jnp.float32), "key": jax.random.key(0), "n": 2}
    case = from_arguments("tests/test_x.py::test_f", values, error="AssertionError: no", environment=ENVIRONMENT)
    found = loads(dumps(case), name="case.json")
    assert (found.law, found.mismatches, found.argnames, found.x64) == ("given", (), ("x", "key", "n"), False)
    assert found.preview == "x = float32[2] [1, 2], key = key<threefry2x32>[2] [0, 0], n = 2"
    back = found.values()
    assert list(back) == ["x", "key", "n"]
    assert np.asarray(back["x"]).tolist() == [1.0, 2.0]
    assert jax.random.key_data(back["key"]).tolist() == [0, 0]


def test_given_case_describes_this_process() -> None:
    """
    Without an environment, a case of a ``@given`` test records the one of this process.
    """
    case = from_arguments("test_f", {"n": 1}, error="AssertionError")
    assert (case.environment, case.x64) == (Environment.current(), bool(jax.config.jax_enable_x64))


def test_fingerprint_is_stable() -> None:
    """
    The fingerprint is a fixed number: changing it would save every known case a second time.
    """
    expected = "f8341bce9e7cf6c9375dab7b113812805655dd1c8f89a9e98e3a7c3a9d482e7c"
    assert fingerprint(from_finding(finding())) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {
            "environment": Environment(
                **{**{a: getattr(ENVIRONMENT, a) for a in ENVIRONMENT.__slots__[:10]}, "jax": "9"}
            )
        },
        {"cause": None},
        {"notes": ()},
        {"mismatches": (Mismatch("other", (), (), None, None, ""),)},
        {"point": Point(finding().point.primals, seed=7, family="ties")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_fingerprint_ignores_the_circumstances(changes: dict[str, Any]) -> None:
    """
    The same point of the same law and target is the same case, wherever and however it was found.
    """
    assert fingerprint(from_finding(finding(**changes))) == fingerprint(from_finding(finding()))


@pytest.mark.parametrize(
    "changes",
    [
        {"target": "mylib.losses:other"},
        {"property": "vmap"},
        {"point": Point(({"w": np.array([0.5, 0.0], np.float32)}, 3), seed=7)},
        {"point": Point(({"w": np.array([0.5, -0.0], np.float64)}, 3), seed=7)},
        {"point": Point(({"w": jnp.array([0.5, -0.0], jnp.float32)}, 3), seed=7)},
        {"point": Point(({"w": np.array([0.5, -0.0], np.float32)}, 3.0), seed=7)},
        {"point": Point(finding().point.primals, seed=8)},
    ],
    ids=range(7),
)
def test_fingerprint_knows_every_bit(changes: dict[str, Any]) -> None:
    """
    Another target, law, seed, type or bit is another case: even the sign of a zero.
    """
    assert fingerprint(from_finding(finding(**changes))) != fingerprint(from_finding(finding()))


def test_another_format_is_refused() -> None:
    """
    A file of a format that is not known is refused with both versions.
    """
    with pytest.raises(CorpusError, match=r"case\.json: has format 2, but this autoprop reads format 1"):
        loads(changed(autoprop_case=2, anything="new"), name="case.json")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": 1}, r"must be of type str, but is 1 @ \$.target"),
        ({"target": ""}, "must not be empty"),
        ({"law": "left out"}, r"missing.*law|law.*missing"),
        ({"extra": 1}, "extra"),
        ({"x64": 1}, r"must be of type bool, but is 1 @ \$.x64"),
        ({"notes": "text"}, r"must be a list, but is 'text' @ \$.notes"),
        ({"notes": [1]}, "must be of type str, but is 1"),
        ({"arguments": []}, "must be an object"),
        ({"arguments": {"primals": None, "seed": 1}}, "the arguments of a law are primals, seed, family"),
        ({"arguments": {"primals": None, "seed": 1.0, "family": ""}}, "the seed of a point is an integer"),
        ({"arguments": {"primals": None, "seed": True, "family": ""}}, "the seed of a point is an integer"),
        ({"mismatches": []}, "at least one mismatch"),
        ({"mismatches": [{}]}, "missing"),
        ({"environment": {}}, "missing"),
        ({"environment": None}, "environment"),
        ({"xfail": False}, "must be of type str, but is False"),
    ],
)
def test_wrong_fields_are_refused(changes: dict[str, Any], reason: str) -> None:
    """
    A missing, undeclared or mistyped field is refused with the file and the field.
    """
    with pytest.raises(CorpusError, match=rf"(?s)^case\.json: .*({reason})"):
        loads(changed(**changes), name="case.json")


def test_wrong_routes_are_refused() -> None:
    """
    A nested field of the wrong length is refused with its path.
    """
    document = json.loads(TEXT)
    document["mismatches"][0]["routes"] = [["only one"]]
    with pytest.raises(CorpusError, match=r"must have 2 items.*\$\.mismatches"):
        loads(json.dumps(document), name="case.json")


def test_arguments_decode_late() -> None:
    """
    A case whose class is gone still loads and lists; only asking for its point fails, with file and place.
    """
    gone = {"$": "fields", "class": "gone.module:Params", "v": {}}
    primals = {"$": "tuple", "v": [1.0, gone]}
    case = loads(changed(arguments={"primals": primals, "seed": 0, "family": ""}), name="case.json")
    with pytest.raises(
        CorpusError, match=r"case\.json: primals\[1\]: class 'gone\.module:Params': module .* not imported"
    ):
        case.point()


def test_primals_must_be_a_tuple() -> None:
    """
    Primals that are no tuple are refused.
    """
    case = loads(changed(arguments={"primals": [1.0], "seed": 0, "family": ""}), name="case.json")
    with pytest.raises(CorpusError, match="primals: must be a tuple, but is a list"):
        case.point()


def test_what_a_case_holds_depends_on_its_law() -> None:
    """
    Asking a law's case for values, or a ``@given`` case for a point, is an error with the remedy.
    """
    law = loads(TEXT, name="case.json")
    given = from_arguments("test_f", {"n": 1}, error="AssertionError", environment=ENVIRONMENT)
    with pytest.raises(CorpusError, match=r"use point\(\)"):
        law.values()
    with pytest.raises(CorpusError, match=r"use values\(\)"):
        to_finding(given)


def test_finding_with_a_function_is_refused() -> None:
    """
    A finding whose argument holds a function is refused with the argument's name.
    """
    point = Point(({"w": 1.0}, jnp.sin))
    with pytest.raises(CorpusError, match=r"^n: is the callable 'sin'"):
        from_finding(finding(point=point))


def test_surrogates_are_escaped() -> None:
    """
    Text that has no UTF-8 form is written with escapes and comes back.
    """
    case: Case = from_finding(finding()).replace(error="\ud800")
    assert dumps(case).isascii()
    assert loads(dumps(case), name="case.json").error == "\ud800"
