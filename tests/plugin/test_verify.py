"""What `verify` returns, and the calls that it refuses."""

import inspect
import re

import jax.numpy as jnp
import pytest

import autoprop
import hypothesis_jax as hj
from autoprop import Settings, Target, UsageError, verify


def mse(w, x):
    """
    Return a loss.
    """
    return jnp.mean((x @ w) ** 2)


SPECS = (hj.array("d"), hj.array("n d"))


def test_call_makes_a_target():
    """The first argument is the function, the others are the specs of its arguments, the options its contract."""
    target = verify(mse, *SPECS, argnums=0, frozen="x").__autoprop_target__
    actual = (target.fn, target.args, target.argnums, target.frozen, target.name)
    assert actual == (mse, SPECS, 0, ("x",), "mse")


def test_decorator_verifies_the_body():
    """Without a function the specs decorate one, whose name and docstring stay."""

    @verify(hj.array("n"))
    def entropy(p):
        """Entropy."""
        return -jnp.sum(p * jnp.log(p))

    target = entropy.__autoprop_target__
    assert (target.name, target.args, entropy.__name__, entropy.__doc__) == (
        "entropy",
        (hj.array("n"),),
        "entropy",
        "Entropy.",
    )


def test_target_is_taken_as_it_is():
    """A `Target` is verified as it is."""
    target = Target(mse, SPECS)
    assert verify(target).__autoprop_target__ is target


def test_like_is_all_arguments():
    """A single `like(...)` gives the spec of every argument."""
    example = hj.like(jnp.ones(2), jnp.ones((3, 2)))
    assert verify(mse, example).__autoprop_target__.args == tuple(example)


def test_tuple_spec_is_one_argument():
    """A single tuple of specs is the spec of a single argument that is a tuple."""
    assert verify(lambda pair: pair[0] @ pair[1], (hj.array("n"), hj.array("n"))).__autoprop_target__.args == (
        (hj.array("n"), hj.array("n")),
    )


def test_settings_are_kept():
    """The settings given are those of the search."""
    settings = Settings(examples=3)
    assert verify(mse, *SPECS, settings=settings).__autoprop_settings__ is settings


def test_place_is_the_users():
    """The test is at the line that calls `verify`, in the module that does, so reports point there."""
    line = inspect.currentframe().f_lineno + 1
    test = verify(mse, *SPECS)
    code = test.__code__
    assert (code.co_filename, code.co_firstlineno, test.__module__) == (__file__, line, __name__)


def test_place_of_a_decorated_function_is_its_own():
    """A decorated function is where it is written, not where `verify` is."""
    line = inspect.currentframe().f_lineno + 2

    @verify(hj.array("n"))
    def square(x):
        return jnp.sum(x * x)

    assert square.__code__.co_firstlineno == line


def test_no_argument_is_a_fixture():
    """No argument is seen by pytest that it would take for a fixture."""
    kinds = {parameter.kind for parameter in inspect.signature(verify(mse, *SPECS)).parameters.values()}
    assert kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY}


REFUSED = {
    "nothing at all": (lambda: verify(), "the specs of the arguments are missing"),
    "function without specs": (lambda: verify(mse), "verify(mse): the specs of the arguments are missing"),
    "unknown option": (lambda: verify(mse, *SPECS, argnum=0), "verify(mse): argnum=0 is no option; there are name"),
    "unknown option of a decorator": (lambda: verify(*SPECS, argnum=0)(mse), "verify(mse): argnum=0 is no option"),
    "argnums out of range": (lambda: verify(mse, *SPECS, argnums=2), "mse: argnums=2 is out of range"),
    "unknown law": (lambda: verify(mse, *SPECS, properties=("numerik",)), "did you mean numeric"),
    "no law": (lambda: verify(mse, *SPECS, properties=()), "verify(mse): properties=() selects no law"),
    "like among others": (lambda: verify(mse, hj.like(jnp.ones(2)), SPECS[1]), "like(...) describes all arguments"),
    "target with a contract": (lambda: verify(Target(mse, SPECS), argnums=0), "a Target holds its specs and contract"),
    "settings of another kind": (lambda: verify(mse, *SPECS, settings=3), "settings=3 must be an autoprop.Settings"),
    "decorated number": (lambda: verify(*SPECS)(3), "verify: 3 must be the function under test"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_call_is_refused(name):
    """A wrong call is refused where it is made, with the value and the remedy."""
    call, message = REFUSED[name]
    with pytest.raises(UsageError, match=re.escape(message)):
        call()


def test_public_name():
    """`autoprop.verify` is the function."""
    assert autoprop.verify is verify
