"""Distributions of `jax.scipy.stats`, over their supports."""

from hypothesis_jax import array, constant, labels, real, simplex, spd, unit_interval

from .rows import COUNT, POSITIVE, SIGN, UNIT, N, Row, row

LOC = N
SHAPE = array("n", support=real(0.05, 50.0))
SCALE = array("n", support=real(0.01, None))
PROBABILITY = array("n", support=unit_interval)
TIMES = labels("n", below=6)


def methods(distribution: str, names: str, *spec: object, **contract: object) -> dict[str, Row]:
    """
    Return the same row for several methods of a distribution.
    """
    return {f"{distribution}.{name}": row(*spec, **contract) for name in names.split()}


DENSITIES = "pdf logpdf cdf logcdf sf logsf"

CONTINUOUS = {
    **methods("beta", DENSITIES, UNIT, SHAPE, SHAPE),
    **methods("cauchy", DENSITIES, N, LOC, SCALE),
    **methods("cauchy", "ppf isf", UNIT, LOC, SCALE),
    **methods("chi2", DENSITIES, COUNT, SHAPE),
    **methods("expon", DENSITIES, COUNT, constant(0.0), SCALE),
    **methods("expon", "ppf", UNIT, LOC, SCALE),
    **methods("gamma", DENSITIES, COUNT, SHAPE),
    **methods("gennorm", "pdf logpdf cdf", N, SHAPE),
    **methods("gumbel_l", DENSITIES, N, LOC, SCALE),
    **methods("gumbel_l", "ppf", UNIT, LOC, SCALE),
    **methods("gumbel_r", DENSITIES, N, LOC, SCALE),
    **methods("gumbel_r", "ppf", UNIT, LOC, SCALE),
    **methods("laplace", "pdf logpdf cdf", N, LOC, SCALE),
    **methods("logistic", "pdf logpdf cdf sf", N, LOC, SCALE),
    **methods("logistic", "ppf isf", UNIT, LOC, SCALE),
    **methods("norm", DENSITIES, N, LOC, SCALE),
    **methods("norm", "ppf isf", UNIT, LOC, SCALE),
    **methods("pareto", DENSITIES, array("n", support=real(1.0, None)), SHAPE),
    **methods("pareto", "ppf", UNIT, SHAPE),
    **methods("t", "pdf logpdf", N, SHAPE, LOC, SCALE),
    **methods("truncnorm", DENSITIES, SIGN, constant(-1.0), constant(1.0)),
    **methods("uniform", "pdf logpdf cdf", UNIT, constant(0.0), constant(1.0)),
    **methods("uniform", "ppf", UNIT, LOC, SCALE),
    **methods("vonmises", "pdf logpdf", array("n", support=real(-3.14, 3.14)), SHAPE),
    **methods("wrapcauchy", "pdf logpdf", array("n", support=real(0.0, 6.28)), array("n", support=real(0.05, 0.95))),
    **methods("dirichlet", "pdf logpdf", array("d", support=simplex), array("d", support=real(0.05, 50.0))),
    **methods("multivariate_normal", "pdf logpdf", array("n d"), array("d"), array("d d", support=spd)),
}

DISCRETE = {
    **methods("bernoulli", "pmf logpmf cdf", labels("n", below=2), PROBABILITY),
    **methods("bernoulli", "ppf", UNIT, PROBABILITY),
    **methods("betabinom", "pmf logpmf", TIMES, constant(5), SHAPE, SHAPE),
    **methods("binom", "pmf logpmf", TIMES, constant(5), PROBABILITY),
    **methods("geom", "pmf logpmf", TIMES, PROBABILITY),
    **methods("multinomial", "pmf logpmf", labels("d", below=3), constant(6), array("d", support=simplex)),
    **methods("nbinom", "pmf logpmf", TIMES, constant(5), PROBABILITY),
    **methods("poisson", "pmf logpmf cdf", TIMES, POSITIVE),
    **methods("poisson", "entropy", array("n", support=real(0.01, 200.0))),
}

STATS = {
    **CONTINUOUS,
    **DISCRETE,
    "sem": row(array("n d")),
    "gaussian_kde": row(array("6"), array("n"), call=lambda f, data, x: f(data)(x)),
}
STATS_LEFT_OUT = {"integer output, or a choice among the elements": "mode rankdata"}
