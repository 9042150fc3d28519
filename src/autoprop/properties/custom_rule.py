"""The law `custom_rule`: each custom rule is the derivative of its own body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import wide
from .._jaxprs import inner_program
from .._origin import source_line, written_at
from .._pairing import paired_on_host, tangents
from .._point import Point
from .._subject import Subject
from .._target import Target
from .._tolerance import ROUTES, RULE, RULE_SHARE
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.automatic import both_modes
from ..oracles.bounded import fast
from ..oracles.promoted import Promoted
from ..oracles.rules import Call, as_function, body_instead, calls, holds_rules, moved_inputs, routes
from ._law import law
from .finite import finite
from .numeric import numeric

__all__ = ["custom_rule"]

SAME, DIFFERS, RAISES = range(3)


def _calls_rules(subject: Subject) -> str | None:
    seen = subject.is_traceable and holds_rules(subject.traced)
    return None if seen else "the function calls no custom rule that can be seen by tracing it"


@law("numeric", applies=_calls_rules, numeric=True)
def custom_rule(subject: Subject, point: Point) -> Verdict:
    """
    D rule(y) = D body(y), for each custom_jvp and custom_vjp inside f, at the inputs y that it meets there

    A custom rule replaces the derivative of a body; it may be more exact than automatic differentiation of the body,
    but it must be the slope of it. Each rule is taken out of the function, nested ones too (inside jit, checkpoint,
    loops at their first iteration, branches, other rules), in 64 bits. Where its derivative, or the value of its
    forward pass, differs from the body's, the laws `numeric` and `finite` judge it alone, each of its inputs by
    itself. So kinks are respected, and a rule is tested even where the whole function hides it: behind a small factor,
    a zero, or a stop. Conversely, a rule that the whole function's slope bears out is never accused.

    **Catches** wrong rules that the function masks, wrong cotangents of one input among several, stale values in a
    forward pass, rules that are not finite where the slope is.

    **Does not catch** rules that closed over values of the function being traced, rules in later iterations only,
    rules whose body does not respond to its input at all where the function hides them too.
    """
    moved, held = subject.split(point.primals)
    with jax.enable_x64(True):
        moved, held = wide(moved), wide(held)
        try:
            eqns, program = _program(subject, moved, held)
            found = program(moved, held)
        except Exception as error:  # noqa: BLE001  rules under test may raise anything
            return Undecided(f"the rules cannot be judged apart from the function ({type(error).__name__})")
        if not any(bool(reached) for _, reached, _ in found):
            return Undecided("no custom rule is reached here")
        undecided: Undecided | None = None
        for number, (eqn, (inputs, reached, differs)) in enumerate(zip(eqns, found, strict=True)):
            if not bool(reached) or int(differs) == SAME:
                continue
            if int(differs) == RAISES:
                undecided = undecided or Undecided(f"the rule of {_name(eqn)} cannot be judged apart from the function")
                continue
            verdict = _alone(subject, point, number, Call(eqn, list(inputs), True))
            if isinstance(verdict, Violated):
                return verdict
            undecided = undecided or (verdict if isinstance(verdict, Undecided) else None)
    return undecided or Holds()


def _traced(subject: Subject, moved: Any, held: Any) -> Any:
    if "rules:trace" not in subject.memo:
        subject.memo["rules:trace"] = jax.make_jaxpr(subject.f)(moved, held)
    return subject.memo["rules:trace"]


def _program(subject: Subject, moved: Any, held: Any) -> tuple[list[Any], Any]:
    """
    The equations that call rules, and a compiled program: for each, its inputs, whether it is reached, and whether its
    value and its derivatives differ from the body's (see `_compared`).
    """
    if "rules:program" not in subject.memo:
        closed = _traced(subject, moved, held)
        eqns: list[Any] = []

        def look(m: Any, h: Any) -> Any:
            met = calls(closed, [*m, *h])
            eqns[:] = [call.eqn for call in met]
            return [(call.inputs, jnp.asarray(call.reached), _compared(call)) for call in met]

        subject.memo["rules:program"] = eqns, fast(subject, look)
    kept: tuple[list[Any], Any] = subject.memo["rules:program"]
    return kept


def _compared(call: Call) -> Any:
    """
    Whether a rule and its body are the `SAME`, or differ, or the rule `RAISES`.
    """
    try:
        values, derivatives = routes(call)
    except Exception:  # noqa: BLE001  a rule under test may raise anything, and may not be taken out of its trace
        return jnp.asarray(RAISES)
    if derivatives is None:
        return jnp.asarray(DIFFERS)  # nothing to compare with but the slope
    return jnp.where(_differs([*values, *derivatives]), DIFFERS, SAME)


def _differs(pairs: list[tuple[Any, Any]]) -> Any:
    """
    Whether any element of any pair is apart by more than rounding, or finite on one side only.
    """
    apart = [jnp.asarray(False)]
    for rule, body in pairs:
        size = jnp.maximum(jnp.abs(rule), jnp.abs(body))
        finite_both = jnp.isfinite(rule) & jnp.isfinite(body)
        one_sided = jnp.isfinite(rule) != jnp.isfinite(body)
        apart.append(jnp.any(one_sided | (finite_both & (jnp.abs(rule - body) > RULE * size))))
    return jnp.any(jnp.stack(apart))


def _alone(subject: Subject, point: Point, number: int, call: Call) -> Verdict:
    """
    Judge one rule at the inputs that it meets, as a function of its own.
    """
    inputs = tuple(np.asarray(x) if not _is_key(x) else x for x in call.inputs)
    key = ("rule", number)
    if key not in subject.memo:
        function = as_function(call.eqn)
        target = Target(
            lambda *xs: list(function(*xs)),
            inputs,
            name=_name(call.eqn),
            argnums=tuple(moved_inputs(call.eqn)),
            intended=subject.target.intended,
        )
        subject.memo[key] = Subject(target, inputs)
    own, at = subject.memo[key], Point(inputs, point.seed)
    verdict = _value(own, at, call)
    excuse: Undecided | None = None
    if isinstance(verdict, Holds):
        verdict = numeric.judge(own, at)
        if isinstance(verdict, Violated):
            excuse = _small(own, at, verdict) or _excused(subject, point, own, at, call)
        else:
            beyond = finite.judge(own, at)
            if isinstance(beyond, Violated):
                verdict, excuse = beyond, _harmless(subject, point)
    if not isinstance(verdict, Violated):
        return verdict
    return excuse or Violated(tuple(_named(found, call) for found in verdict.mismatches))


def _is_key(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jax.dtypes.prng_key))


def _value(own: Subject, at: Point, call: Call) -> Verdict:
    """
    How the value of the rule's forward pass differs from the body's by more than rounding.
    """
    here = Promoted(own, at)
    pairs = own.compiled("routes", lambda: jax.jit(lambda inputs: routes(Call(call.eqn, inputs, True))[0]))(call.inputs)
    u = here.cotangents()
    rule, body = ([np.asarray(pair[side]) for pair in pairs] for side in (0, 1))
    if not all(np.all(np.isfinite(y)) for y in body):
        return Undecided("the value of a rule's body is not finite")
    (left, size), (right, _) = paired_on_host(u, rule), paired_on_host(u, body)
    gap = abs(left - right)
    if gap <= max(ROUTES * (here.eps * size + here.rounding(u)), RULE_SHARE**2 * size):
        return Holds()
    shown = (("forward pass of the rule", f"{left:.9g}"), ("body", f"{right:.9g}"))
    origin = "the forward pass must give the value of the body, up to rounding"
    return Violated((Mismatch("value", (), shown, gap, ROUTES * here.eps * size, origin),))


def _small(own: Subject, at: Point, verdict: Violated) -> Undecided | None:
    """
    Why a rule is not accused that differs little from its body: it may be the rule of an iteration's limit.
    """
    here, found = Promoted(own, at), verdict.worst
    forward, reverse = here.derivatives(tangents(own, here.moved, at.seed), here.cotangents())
    scale = max((float(np.max(np.abs(d), initial=0.0)) for d in (reverse or forward or [])), default=0.0)
    size = max(abs(float(found.routes[0][1])), RULE_SHARE * scale)
    if found.difference is None or found.difference > RULE_SHARE * size:
        return None
    return Undecided("a rule differs from its body by less than a thousandth, as that of an iteration's limit does")


def _excused(subject: Subject, point: Point, own: Subject, at: Point, call: Call) -> Undecided | None:
    """
    Why a rule that contradicts its body is not accused: the whole function's slope bears the rule out, or neither the
    function nor the body responds to what the rule declares.
    """
    matters = _matters(subject, point, call)
    whole = numeric.judge(subject, point) if matters else None
    if isinstance(whole, Holds):
        return Undecided("a rule contradicts its body, but the slope of the whole function bears it out")
    here = Promoted(own, at)
    measured = here.slope(tangents(own, here.moved, at.seed), here.cotangents())
    flat = measured.kind in ("constant", "stairs") or measured.scale == 0
    if flat and not isinstance(whole, Violated):
        return Undecided("a rule declares a derivative of a body that does not respond, and the function hides it")
    return None


def _harmless(subject: Subject, point: Point) -> Undecided | None:
    """
    Why a rule that is not finite is not accused: the derivative of the whole function is, so nothing of it is used.
    """
    here = Promoted(subject, point)
    both = here.derivatives(tangents(subject, here.moved, point.seed), here.cotangents())
    found = [np.all(np.isfinite(leaf)) for side in both if side is not None for leaf in side]
    return Undecided("a rule is not finite, but the function makes no use of it") if found and all(found) else None


def _matters(subject: Subject, point: Point, call: Call) -> bool:
    """
    Whether the function's own derivative is another one where the rule is taken off.
    """
    here = Promoted(subject, point)
    closed: Any = _traced(subject, here.moved, here.held)
    v, u = tangents(subject, here.moved, point.seed), here.cotangents()

    def with_body(m: Any, h: Any) -> Any:
        return both_modes(lambda x: body_instead(closed, call.eqn, [*x, *h]), m, v, u)[1:]

    forward, reverse = here.derivatives(v, u)
    other_forward, other_reverse = with_body(here.moved, here.held)
    for ours, other in ((forward, other_forward), (reverse, other_reverse)):
        if ours is None or other is None:
            continue
        if any(bool(_differs([(a, b)])) for a, b in zip(ours, other, strict=True)):
            return True
    return False


def _name(eqn: Any) -> str:
    return written_at(inner_program(eqn))[0]


def _named(found: Mismatch, call: Call) -> Mismatch:
    """
    The mismatch with the names of the rule and of its input, and where both are written.
    """
    inner = inner_program(call.eqn)
    name, where = written_at(inner)
    names: Sequence[str | None] = inner.jaxpr.debug_info.arg_names or ()
    known = dict(enumerate(names)) if len(names) == len(call.eqn.invars) else {}
    leaves = {f"args[{i}]": known.get(i) or f"input {i}" for i in moved_inputs(call.eqn)}
    leaf = leaves.get(found.leaf, found.leaf)
    line = source_line(call.eqn)
    origin = f"{found.origin}; the rule of {name} ({where or 'source unknown'}){f', called at {line}' if line else ''}"
    pairs = tuple((f"rule, {way}" if way in ("forward", "reverse") else way, shown) for way, shown in found.routes)
    return attrs.evolve(found, leaf=f"{name}: {leaf}", routes=pairs, origin=origin)
