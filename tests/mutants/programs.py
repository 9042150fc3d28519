"""Faults of whole programs: stops, contracts, gradient transforms, keys, hidden state, retracing."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import linear_call

from hypothesis_jax import array, key

from .entry import NUMBERS, Mutant, Partner
from .operators import crooked

__all__ = ["PARTNERS", "PROGRAMS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
G = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5], [0.5, 1.5, -0.75]], F)
stop = jax.lax.stop_gradient
STOPS = {"intended": ("stop_gradient",)}
TD = {"frozen": ("target",), "live": ("params",), **STOPS}
LIVE = {"live": ("params",)}


# Stops ---------------------------------------------------------------------------------------------------------------


def td_loss(params: Any, target: Any, reward: Any) -> Any:
    """The squared error against a held target."""
    return jnp.sum((params - stop(reward + 0.9 * target)) ** 2)


@jax.custom_vjp
def _held(x: Any) -> Any:
    return x


_held.defvjp(lambda x: (x, None), lambda _, c: (0 * c,))


@jax.custom_jvp
def _almost_held(x: Any) -> Any:
    return x


_almost_held.defjvp(lambda p, t: (p[0], 1e-6 * t[0]))


@jax.custom_jvp
def _held_once(x: Any) -> Any:
    return x


_held_once.defjvp(lambda p, t: (p[0], 0 * crooked(p[0]) * t[0]))


def held_by_a_rule(params: Any, target: Any, reward: Any) -> Any:
    """A stop made of a rule with a cotangent of 0."""
    return jnp.sum((params - _held(reward + 0.9 * target)) ** 2)


def stop_is_missing(params: Any, target: Any, reward: Any) -> Any:
    """The target is not held."""
    return jnp.sum((params - (reward + 0.9 * target)) ** 2)


def stop_on_the_reward(params: Any, target: Any, reward: Any) -> Any:
    """The stop stands one bracket too far to the left."""
    return jnp.sum((params - (stop(reward) + 0.9 * target)) ** 2)


def stop_leaks_a_little(params: Any, target: Any, reward: Any) -> Any:
    """A stop that lets a millionth through."""
    return jnp.sum((params - _almost_held(reward + 0.9 * target)) ** 2)


def stop_in_one_branch(params: Any, target: Any, reward: Any) -> Any:
    """Where the reward is large, the other branch is taken, which has no stop."""
    held = stop(reward + 0.9 * target)
    return jnp.sum((params - jnp.where(reward > 50, reward + 0.9 * target, held)) ** 2)


def regulariser_outside(params: Any, target: Any, reward: Any) -> Any:
    """A decay of all weights, the target's too."""
    return td_loss(params, target, reward) + 1e-4 * jnp.sum(target**2)


def target_stopped_twice(params: Any, target: Any, reward: Any) -> Any:
    """The prediction is stopped instead of the target."""
    return jnp.sum((stop(params) - stop(reward + 0.9 * target)) ** 2)


def whole_loss_stopped(params: Any, target: Any, reward: Any) -> Any:
    """Nothing is trained."""
    return stop(td_loss(params, target, reward))


def one_leaf_stopped(params: Any, x: Any) -> Any:
    """The bias is only used behind a stop."""
    return jnp.sum((x * params["weight"] + stop(params["bias"])) ** 2)


def rounded_through_integers(params: Any, x: Any) -> Any:
    """A cast to integers cuts the gradient."""
    return jnp.sum((params * 8).astype(jnp.int32) * x)


def argmax_for_max(params: Any, x: Any) -> Any:
    """An index carries no gradient."""
    return jnp.sum(x * jnp.argmax(params))


# Contract and transforms of the user's own ----------------------------------------------------------------------------


def two_sided(a: Any, b: Any) -> Any:
    """A loss that treats its two arguments differently."""
    return jnp.sum(jnp.sin(a) * b**2)


def sorting(fn: Any, argnums: Any) -> Any:
    """A gradient transform that sorts its argnums."""
    return jax.grad(fn, argnums if isinstance(argnums, int) else tuple(sorted(argnums)))


def reversing(fn: Any, argnums: Any) -> Any:
    """A gradient transform that gives several gradients back to front."""
    if isinstance(argnums, int):
        return jax.grad(fn, argnums)
    return lambda *args: jax.grad(fn, argnums)(*args)[::-1]


def first_only(fn: Any, argnums: Any) -> Any:
    """A gradient transform that counts negative argnums from the wrong end."""
    if isinstance(argnums, int):
        return jax.grad(fn, abs(argnums) if argnums < -1 else argnums)
    return jax.grad(fn, tuple(abs(n) if n < -1 else n for n in argnums))


def ascending(fn: Any, argnums: Any) -> Any:
    """A gradient transform with the sign of a maximiser."""
    return lambda *args: jax.tree.map(jnp.negative, jax.grad(fn, argnums)(*args))


def normalising(fn: Any, argnums: Any) -> Any:
    """A gradient transform that clips on the sly."""
    return lambda *args: jax.tree.map(lambda g: jnp.clip(g, -0.01, 0.01), jax.grad(fn, argnums)(*args))


def accepts_all(x: Any) -> Any:
    """A function that should refuse a matrix."""
    return jnp.sum(x**2)


# Modes ----------------------------------------------------------------------------------------------------------------


def transpose_of_matrix(x: Any) -> Any:
    """A linear map whose transpose is itself, though it is not symmetric."""
    a = jnp.asarray(G, x.dtype)
    return jnp.sin(linear_call(lambda m, v: m @ v, lambda m, c: m @ c, a, x))


def transpose_of_shift(x: Any) -> Any:
    """The transpose of a shift shifts the same way."""
    return jnp.tanh(linear_call(lambda _, v: jnp.roll(v, 1), lambda _, c: jnp.roll(c, 1), (), x))


def transpose_of_scale(x: Any) -> Any:
    """The transpose of a scaling is off by one per cent."""
    return linear_call(lambda s, v: s * v, lambda s, c: 1.01 * s * c, jnp.asarray(3, x.dtype), jnp.sin(x))


def transpose_of_cumsum(x: Any) -> Any:
    """The transpose of a running sum is a running sum from the same end."""
    return linear_call(lambda _, v: jnp.cumsum(v), lambda _, c: jnp.cumsum(c), (), x) ** 2


def own_jvp(wrong: Any) -> Any:
    """Return a function with a JVP rule that calls a linear map with a wrong transpose."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.exp(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        y = f(primals[0])
        return y, linear_call(lambda s, t: s * t, lambda s, c: wrong(s) * c, y, tangents[0])

    return lambda x: f(x)


# Symbolic zeros ------------------------------------------------------------------------------------------------------


@functools.partial(jax.custom_jvp)
def _weighted(x: Any, w: Any) -> Any:
    return jnp.sum(x**2 * w)


def _weighted_jvp(primals: Any, tangents: Any) -> Any:
    (x, w), (t, s) = primals, tangents
    zero = jax.custom_derivatives.SymbolicZero
    if isinstance(s, zero):
        return _weighted(x, w), jnp.sum(x * w * t)  # the factor 2 is forgotten where the weights are not moved
    moved = jnp.sum(x**2 * s)
    return _weighted(x, w), moved if isinstance(t, zero) else moved + jnp.sum(2 * x * w * t)


_weighted.defjvp(_weighted_jvp, symbolic_zeros=True)


def weights_at_rest(x: Any, w: Any) -> Any:
    """A rule that is wrong where its second argument is not differentiated."""
    return _weighted(x, w)


# Masked faults of a rule ---------------------------------------------------------------------------------------------


def _pair(sign: float) -> Any:
    f = jax.custom_vjp(lambda x: (jnp.sin(x), jnp.cos(x)))
    f.defvjp(
        lambda x: (f(x), x),
        lambda x, c: (c[0] * jnp.cos(x) + sign * c[1] * jnp.sin(x),),
    )
    return f


def second_output_unused(x: Any) -> Any:
    """A rule of two outputs, the second of them wrong and not used."""
    return _pair(1.0)(x)[0]


@jax.custom_vjp
def _square(x: Any) -> Any:
    return x**2


_square.defvjp(lambda x: (x**2, x), lambda x, c: (jnp.where(x < 0, -2 * x, 2 * x) * c,))


def fed_by_squares(x: Any) -> Any:
    """A rule that is wrong for negative arguments, which never reach it."""
    return jnp.sum(_square(x**2))


# Second derivatives --------------------------------------------------------------------------------------------------


def _with_rule(value: Any, push: Any) -> Any:
    f = jax.custom_jvp(value)
    f.defjvp(lambda p, t: (value(*p), push(p[0]) * t[0]))
    return lambda x: f(x)


_cos_wrong = _with_rule(jnp.cos, jnp.sin)
_exp_flat = _with_rule(jnp.exp, lambda x: 0.99 * jnp.exp(x))
_step = _with_rule(lambda x: jax.nn.sigmoid(x), lambda x: stop(jax.nn.sigmoid(x) * (1 - jax.nn.sigmoid(x))))
_root = _with_rule(
    lambda x: jnp.sqrt(1 + x**2), lambda x: x / jnp.sqrt(1 + jnp.where(jnp.abs(x) > 100, stop(x), x) ** 2)
)


def rule_of_the_rule(x: Any) -> Any:
    """The derivative of sin is a cosine whose own rule has the wrong sign."""
    return jnp.sum(_with_rule(jnp.sin, _cos_wrong)(x))


def one_percent_of_curvature(x: Any) -> Any:
    """The derivative of exp is an exponential whose own derivative is off by one per cent."""
    return jnp.sum(_with_rule(jnp.exp, _exp_flat)(x))


def sigmoid_without_curvature(x: Any) -> Any:
    """The slope of a sigmoid is stopped."""
    return jnp.sum(_step(x))


def curvature_wrong_when_large(x: Any) -> Any:
    """The curvature is wrong beyond 100 only."""
    return jnp.sum(_root(x))


# Hidden state --------------------------------------------------------------------------------------------------------

_COUNTER = itertools.count()
_GENERATOR = np.random.default_rng(0)
_SEEN: list[Any] = []


def counts_calls(x: Any) -> Any:
    """The value grows a little with each call."""
    return jnp.sum(x**2) * (1 + 0.125 * next(_COUNTER))


def dropout_of_numpy(x: Any) -> Any:
    """Noise from a generator outside of JAX."""
    return jnp.sum(x * _GENERATOR.normal(size=x.shape).astype(x.dtype))


def scales_in_place(x: Any) -> Any:
    """NumPy arrays are changed in place."""
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x *= 0.5
    return jnp.sum(jnp.asarray(x) ** 2)


def last_input(x: Any) -> Any:
    """The value depends on the input before."""
    before = _SEEN[-1] if _SEEN else 0.0
    if not isinstance(x, jax.core.Tracer):
        _SEEN[:] = [float(jnp.sum(jnp.asarray(x)))]
    return jnp.sum(x**2) + before


def leaks_a_tracer(x: Any) -> Any:
    """A traced value is kept outside."""
    _SEEN.append(jnp.sum(x**2))
    del _SEEN[:-1]
    return _SEEN[-1] * 1.0


def fresh_program(x: Any) -> Any:
    """A new function is compiled at each call."""
    return jax.jit(lambda y: jnp.sum(jnp.sin(y)))(x)


def shape_from_values(x: Any) -> Any:
    """A constant that the trace has baked in: the program differs at each input."""
    scale = 1.0 if isinstance(x, jax.core.Tracer) else float(jnp.max(jnp.abs(jnp.asarray(x)))) or 1.0
    return jnp.sum((x / scale) ** 2)


# Keys ----------------------------------------------------------------------------------------------------------------


def noise_twice(k: Any, x: Any) -> Any:
    """One key draws twice."""
    return jnp.sum(x * jax.random.normal(k, x.shape) + jax.random.normal(k, x.shape))


def parent_used(k: Any, x: Any) -> Any:
    """A key is split, and then used itself."""
    first, _ = jax.random.split(k)
    return jnp.sum(x * jax.random.normal(first, x.shape) * jax.random.normal(k, x.shape))


def same_key_in_the_loop(k: Any, x: Any) -> Any:
    """Every step of a loop draws with the same key."""
    return jax.lax.fori_loop(0, 3, lambda _, y: y + x * jax.random.normal(k, x.shape), jnp.zeros_like(x))


def fold_in_dropped(k: Any, x: Any) -> Any:
    """Each layer folds its number into the key, and the last two have the same."""
    layers = [jax.random.fold_in(k, n) for n in (0, 1, 1)]
    return sum(jnp.sum(x * jax.random.bernoulli(layer, 0.5, x.shape)) for layer in layers)


def key_from_outside(k: Any, x: Any) -> Any:
    """Some noise comes from a generator that no key controls."""
    noise = jax.random.normal(k, x.shape) + _GENERATOR.normal(size=x.shape).astype(x.dtype)
    return jnp.sum(x * noise)


def key_of_the_call(k: Any, x: Any) -> Any:
    """The key is mixed with the number of calls so far."""
    return jnp.sum(x * jax.random.normal(jax.random.fold_in(k, next(_COUNTER)), x.shape))


def noise_split(k: Any, x: Any) -> Any:
    """Each draw has a key of its own."""
    first, second = jax.random.split(k)
    return jnp.sum(x * jax.random.normal(first, x.shape) + jax.random.normal(second, x.shape))


# Trees ---------------------------------------------------------------------------------------------------------------


def first_leaf_weighs_more(params: Any) -> Any:
    """The order of the leaves is taken for a meaning."""
    leaves = jax.tree.leaves(params)
    return sum((i + 1) * jnp.sum(leaf**2) for i, leaf in enumerate(leaves))


def shortest_name_skipped(params: Any) -> Any:
    """Weight decay leaves out whatever is called b."""
    return sum(jnp.sum(leaf**2) for name, leaf in params.items() if name != "b")


def plain_tree(params: Any) -> Any:
    """A loss of a tree."""
    return jnp.sum(params["w"] ** 2) + jnp.sum(jnp.sin(params["b"]))


# Loops and transforms ------------------------------------------------------------------------------------------------


def traced_loop_differs(x: Any) -> Any:
    """Where it is traced, a loop makes one step less."""
    steps = 2 if isinstance(x, jax.core.Tracer) else 3
    for _ in range(steps):
        x = jnp.sin(x)
    return x


def python_branch(x: Any) -> Any:
    """Only what is not traced takes the branch for large values."""
    if not isinstance(x, jax.core.Tracer) and float(jnp.max(jnp.abs(jnp.asarray(x)))) > 1:
        return jnp.sum(jnp.abs(x))
    return jnp.sum(jnp.asarray(x) ** 2)


def _ascent_rule() -> Any:
    f = jax.custom_vjp(lambda x: jnp.sum((x - 1) ** 2))
    f.defvjp(lambda x: (f(x), x), lambda x, c: (-2 * c * (x - 1),))
    return lambda x: f(x)


_TREE = {"w": W, "b": X}
KEYED = (key(), array("n"))
AT = (jax.random.key(0), X)


def _keyed(kind: str, fn: Any, *laws: str) -> Mutant:
    return Mutant(kind, "noise", fn, AT, laws, spec=KEYED)


def _td(kind: str, fn: Any, *laws: str, **options: Any) -> Mutant:
    return Mutant(kind, "temporal difference", fn, (W, X, X / 4), laws, contract=TD, **options)


PROGRAMS = [
    _td("stop is missing", stop_is_missing, "frozen"),
    _td("stop on another term", stop_on_the_reward, "frozen"),
    _td("stop leaks a little", stop_leaks_a_little, "frozen"),
    _td("stop in one branch", stop_in_one_branch, "frozen", trigger=(W, X, X + 100)),
    _td("regulariser outside the stop", regulariser_outside, "frozen"),
    _td("both stopped", target_stopped_twice, "live"),
    _td("whole loss stopped", whole_loss_stopped, "live"),
    Mutant(
        "one leaf stopped", "linear layer", one_leaf_stopped, ({"weight": W, "bias": X}, X), ("live",), contract=LIVE
    ),
    Mutant("cut by a cast", "linear layer", rounded_through_integers, (W, X), ("live",), contract=LIVE),
    Mutant("cut by an index", "linear layer", argmax_for_max, (W, X), ("live",), contract=LIVE),
    Mutant("stop not declared", "straight through", lambda x: jnp.sum(x * stop(x)), (X,), NUMBERS),
    Mutant("sorted argnums", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": sorting}),
    Mutant(
        "gradients reversed", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": reversing}
    ),
    Mutant(
        "negative argnums", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": first_only}
    ),
    Mutant(
        "gradient of a maximiser",
        "two arguments",
        two_sided,
        (X, W),
        ("descent", "value_and_grad"),
        contract={"gradient": ascending},
    ),
    Mutant(
        "gradient clipped", "two arguments", two_sided, (X, W), ("value_and_grad",), contract={"gradient": normalising}
    ),
    Mutant("rule ascends", "square loss", _ascent_rule(), (X,), ("descent", *NUMBERS)),
    Mutant(
        "rule ascends on purpose",
        "square loss",
        _ascent_rule(),
        (X,),
        ("descent",),
        contract={"intended": ("custom_rules",)},
    ),
    Mutant(
        "accepts a matrix",
        "sum of squares",
        accepts_all,
        (X,),
        ("rejects",),
        contract={"rejects": [((G,), ValueError)]},
    ),
    Mutant(
        "wrong formula",
        "sum of squares",
        accepts_all,
        (X,),
        ("reference",),
        contract={"reference": lambda x: 2 * jnp.sum(x**2)},
    ),
    Mutant(
        "wrong where large",
        "sum of squares",
        lambda x: jnp.sum(jnp.where(jnp.abs(x) > 100, jnp.abs(x), x**2)),
        (X,),
        ("reference",),
        trigger=(200 * X,),
        contract={"reference": lambda x: jnp.sum(x**2)},
    ),
    Mutant(
        "wrong expected gradient",
        "sum of squares",
        accepts_all,
        (X,),
        ("expected_grad",),
        contract={"expected_grad": lambda x: x},
    ),
    Mutant("transpose not transposed", "linear map", transpose_of_matrix, (X,), ("adjoint", "modes"), spec=(array(3),)),
    Mutant("transpose shifts on", "linear map", transpose_of_shift, (X,), ("adjoint", "modes")),
    Mutant("transpose scales more", "linear map", transpose_of_scale, (X,), ("adjoint", "modes")),
    Mutant("transpose sums from the same end", "linear map", transpose_of_cumsum, (X,), ("adjoint", "modes")),
    Mutant("transpose halved", "exponential", own_jvp(lambda s: s / 2), (X,), ("adjoint", "modes", *NUMBERS)),
    Mutant("transpose negative", "exponential", own_jvp(lambda s: -s), (X,), ("adjoint", "modes", *NUMBERS)),
    Mutant(
        "transpose wrong where large",
        "exponential",
        own_jvp(lambda s: jnp.where(s > 20, 1, s)),
        (X,),
        ("adjoint", "modes", *NUMBERS),
        trigger=(X + 4,),
    ),
    Mutant(
        "wrong with an argument at rest",
        "weighted squares",
        weights_at_rest,
        (X, W),
        ("argnums_closure", "argnums_order", "numeric"),
    ),
    Mutant("wrong output unused", "pair", second_output_unused, (X,), ("custom_rule",)),
    Mutant("wrong where never reached", "squares", fed_by_squares, (X,), ("custom_rule",)),
    Mutant("rule of the rule", "sin", rule_of_the_rule, (X,), ("numeric_second",)),
    Mutant("one per cent of curvature", "exp", one_percent_of_curvature, (X,), ("numeric_second",)),
    Mutant("curvature stopped", "sigmoid", sigmoid_without_curvature, (X,), ("numeric_second",)),
    Mutant(
        "curvature wrong when large", "root", curvature_wrong_when_large, (X,), ("numeric_second",), trigger=(400 * X,)
    ),
    Mutant("counts calls", "hidden state", counts_calls, (X,), ("repeatable", "jit")),
    Mutant("noise of NumPy", "hidden state", dropout_of_numpy, (X,), ("repeatable", "jit", "vmap")),
    Mutant("changes its argument", "hidden state", scales_in_place, (X,), ("repeatable",)),
    Mutant("remembers the last input", "hidden state", last_input, (X,), ("repeatable",)),
    Mutant("keeps a tracer", "hidden state", leaks_a_tracer, (X,), ("repeatable",)),
    Mutant("compiles at each call", "retraced", fresh_program, (X,), ("retrace",)),
    Mutant("scale of the trace", "retraced", shape_from_values, (X,), ("jit",)),
    _keyed("one key twice", noise_twice, "key_reuse"),
    _keyed("parent of a split used", parent_used, "key_reuse"),
    _keyed("one key in a loop", same_key_in_the_loop, "key_reuse"),
    _keyed("one number folded in twice", fold_in_dropped, "key_reuse"),
    _keyed("generator outside", key_from_outside, "key_determinism", "repeatable", "jit"),
    _keyed("calls mixed in", key_of_the_call, "key_determinism", "repeatable", "jit"),
    Mutant("order of the leaves", "tree", first_leaf_weighs_more, (_TREE,), ("tree_invariance",)),
    Mutant("names of the leaves", "tree", shortest_name_skipped, (_TREE,), ("tree_invariance",)),
    Mutant("traced loop differs", "sin", traced_loop_differs, (X,), ("jit", "remat", "nested_jit")),
    Mutant("branch in Python", "robust loss", python_branch, (X,), ("jit", "remat", "nested_jit")),
]

PARTNERS = [
    Partner("temporal difference", td_loss, (W, X, X / 4), contract=TD),
    Partner(
        "stop by a rule", held_by_a_rule, (W, X, X / 4), contract={"frozen": ("target",), "intended": ("custom_rules",)}
    ),
    Partner("linear layer", lambda params, x: jnp.sum((x * params) ** 2), (W, X), contract=LIVE),
    Partner("straight through", lambda x: jnp.sum(x + stop(jnp.round(x) - x)), (X,), contract=STOPS),
    Partner("two arguments", two_sided, (X, W), contract={"gradient": jax.grad}),
    Partner(
        "sum of squares",
        accepts_all,
        (X,),
        contract={"reference": lambda x: jnp.sum(x * x), "expected_grad": lambda x: 2 * x},
    ),
    Partner(
        "linear map",
        lambda x: jnp.sin(linear_call(lambda m, v: m @ v, lambda m, c: m.T @ c, jnp.asarray(G, x.dtype), x)),
        (X,),
        spec=(array(3),),
    ),
    Partner("exponential", own_jvp(lambda s: s), (X,)),
    Partner("pair", lambda x: _pair(-1.0)(x), (X,)),
    Partner("noise", noise_split, AT, spec=KEYED),
    Partner("tree", plain_tree, (_TREE,)),
    Partner("sigmoid", lambda x: jnp.sum(_with_rule(jnp.exp, lambda y: jnp.exp(y))(x)), (X,)),
]
