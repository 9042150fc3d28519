"""
What each law costs at one point: `python benchmarks/law_cost.py [--write]`; with `--write` docs/law_cost.md is written.

Time is that of the process on all cores, so a busy machine changes it little. Laws that share a program with one above
them in the table find it compiled.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autoprop import Point, Target
from autoprop._subject import Subject
from autoprop.properties import LAWS

PAGE = Path(__file__).parents[1] / "docs" / "law_cost.md"
COMPILED = "/jax/core/compile/backend_compile_duration"


def small(x: Any) -> Any:
    """
    Return a scalar of a vector.
    """
    return jnp.sum(jnp.sin(x) * x)


def mlp(params: Any, x: Any, y: Any) -> Any:
    """
    Return the cross-entropy of a network of three layers.
    """
    *hidden, (w, b) = params
    for weights, bias in hidden:
        x = jnp.tanh(x @ weights + bias)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w + b), y[:, None], axis=1))


def subjects() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """
    Return functions and their arguments.
    """
    rng = np.random.default_rng(0)

    def layer(n: int, m: int) -> tuple[Any, Any]:
        return rng.normal(size=(n, m)).astype(np.float32), np.zeros(m, np.float32)

    params = [layer(4, 8), layer(8, 8), layer(8, 3)]
    return {
        "sum(sin(x) * x)": (small, (rng.normal(size=5).astype(np.float32),)),
        "cross-entropy of an MLP": (mlp, (params, rng.normal(size=(6, 4)).astype(np.float32), np.arange(6) % 3)),
    }


def measured(fn: Any, args: tuple[Any, ...], compiled: list[float]) -> dict[str, tuple[float, int, float]]:
    """
    Return seconds of the first judgement, its programs, and seconds of the second, for each law that applies.
    """
    subject, point = Subject(Target(fn, args), args), Point(args)
    found = {}
    for name, law in LAWS.items():
        if law.on_request or law.why_not(subject) is not None:
            continue
        compiled.clear()
        start = time.process_time()
        law.judge(subject, point)
        first, programs, again = time.process_time() - start, len(compiled), time.process_time()
        law.judge(subject, point)
        found[name] = first, programs, time.process_time() - again
    return found


def main() -> None:
    """
    Print the table, or write it.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/law_cost.md")
    write = parser.parse_args().write
    compiled: list[float] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiled.append(seconds) if event == COMPILED else None
    )
    python, device = platform.python_version(), jax.devices()[0].device_kind
    lines = [
        "# What each law costs",
        "",
        "One judgement at one point, in the order of the table of laws: a law that shares a program with one above it",
        "finds it compiled. Seconds are those of the process on all cores. Written by `benchmarks/law_cost.py --write`",
        f"(Python {python}, JAX {jax.__version__}, {device}).",
    ]
    for title, (fn, args) in subjects().items():
        lines += ["", f"## {title}", "", "| law | first, s | programs | again, ms |", "|---|---:|---:|---:|"]
        rows = measured(fn, args, compiled)
        for name, (first, programs, again) in rows.items():
            lines.append(f"| {name} | {first:.2f} | {programs} | {1e3 * again:.1f} |")
        total = [sum(column) for column in zip(*rows.values(), strict=True)]
        lines.append(f"| all | {total[0]:.2f} | {total[1]} | {1e3 * total[2]:.1f} |")
    text = "\n".join(lines) + "\n"
    if write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
