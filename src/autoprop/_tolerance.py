"""Every threshold by which a verdict is reached, with its derivation."""

from __future__ import annotations

# Agreement of two routes that compute one quantity in the same precision. Each rounding is at most eps/2 of its term;
# a route's error grows with the square root of their number when they are independent, and 64 covers some four thousand
# of them. It is a first filter only: routes further apart are computed again in 64 bits (`SHRINK`).
ROUTES = 64.0

# A difference that is rounding shrinks by eps(wide)/eps(narrow) when both routes are promoted; a real one does not
# shrink. The geometric middle between "all" and "nothing" of that ratio decides.
SHRINK = 0.5  # exponent of the ratio of the epsilons

# Routes that compute in a narrow dtype inside do not profit from promotion: then only a gross difference is told from
# rounding: 1024 roundings of the largest element of the leaf, and a tenth of it.
GROSS_ROUNDINGS, GROSS_SHARE = 1024.0, 0.1

# ⟨u, Jv⟩ against ⟨Jᵀu, v⟩: 64·eps·√(number of terms)·Σ|terms|; none of 4,160 sound cases exceeded it.
ADJOINT = 64.0

# The line integral accuses from this many times its own error estimate. Confirmation settles false accusations.
SCREEN = 8.0


def well_known(unit: float) -> float:
    """
    Return how well, relative to the slope, a line must know an integral to be taken at its word: eps^0.6, 7e-5 in
    float32 and 4e-10 in float64. Errors eight times as large are seen.

    Args:
        unit: machine epsilon.
    """
    return float(unit**0.6)


# In narrow dtypes the two modes may differ by the cancellation of their terms; the screen accuses from a thousandth.
ADJOINT_SCREEN = 1e-3

# A custom rule and the automatic derivative of its body are first compared to this relative distance, in 64 bits: what
# is closer could not be told from a slope anyway (`SLACK`); what is further apart is judged by its slope.
RULE = 1e-7

# The rule of an iteration holds at its limit, the slope of its body where it stops: a rule alone is accused only from a
# thousandth of the entry, and a millionth of the whole derivative. A wrong rule is wrong by a term, a factor or a sign.
RULE_SHARE = 1e-3

# A step against the gradient counts from this many times the noise of the loss, and only steps of at most 2⁻¹⁰ of the
# arguments are small: there a curvature of a thousand times the slope no longer turns the loss upwards.
STEP_NOISE, SMALL_STEP = 64.0, 2.0**-10

# Rounding of one evaluation in the projection ⟨u, f⟩: 4·eps·Σ|u f|.
EVALUATION = 4.0

# A numeric slope convicts only from this many times its own error, and the interval it is compared with is widened by 8
# errors: the errors are spreads of three values, whose ratio to the true error exceeds 8 about once in 10⁵ draws.
CONVICT, WIDEN = 20.0, 8.0

# Relative slack on a slope in 64 bits: Richardson columns agree to 1e-7 where higher derivatives are of order one.
SLACK = 1e-7

# A slope is known well enough to say that the law holds if its error is below a thousandth of it.
KNOWN = 1e-3

# A derivative that changes by more than a hundredth over the smallest step, 4e-12 of the argument, is not resolved.
NEAR = 1e-2

# A NaN needs only a bounded slope to be wrong: known to 30 %.
BOUNDED = 0.3

# Beyond this magnitude of the arguments a value that no longer responds at all is saturated (bisection inside a fixed
# bracket, clipping at a far limit): a declared derivative that does not vanish there is not held against the function.
SATURATED = 100.0

# `precision` accuses only what is off by a tenth, and by more than 2⁸ roundings explain: eight wrong bits beyond the
# condition. A small absolute error (1 - cos x near 0) is no fault, nor is overflow at 1e20. A dtype of few exponents
# must hold the fourth power of a large argument, and the square of a small one without loss.
WRONG_BITS, GROSS = 256.0, 0.1
MODERATE = (1e-6, 1e3)

# Where 2⁸ roundings are no less than a tenth, a derivative is also held to what rounding each operation of the wide
# program to the dtype explains: it is accused from this many times the largest of thirteen such distances, and from
# half of the largest entry of its leaf. A wrong sign is off by twice the entry.
UNEXPLAINED, HALF = 8.0, 0.5

# In bfloat16 2⁸ roundings are no small perturbation: arguments are then perturbed by a sixty-fourth of themselves.
NEARBY = 2.0**-6

# A derivative is the limit of others if those a millionth away, which a float64 resolves to ten digits, lie around it.
AWAY = 1e-6

# Entries smaller than the smallest step make a neighbourhood of their own: a thousandth of them lies inside it.
BELOW = 1e-3
