"""One measurement of `benchmarks/speed.py`, in a process of its own: reads what to do as JSON, prints one record."""

from __future__ import annotations

import importlib.util
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from speed_rivals import JUDGES, by_dims, by_example, drawn, first_found, searched
from speed_targets import WORKS, Work

import autoprop
import hypothesis_jax as hj

COMPILED = "/jax/core/compile/backend_compile_duration"
FROM_CACHE = "/jax/compilation_cache/cache_hits"
FIRST_ORDER = ("numeric", "adjoint", "finite")
ROWS, REPEATS = 256, 15


def target_of(work: Work) -> Any:
    """
    Return the target of a work.
    """
    return autoprop.Target(work.fn, work.spec, name=work.name)


def rate(work: Work, contender: str, seconds: float) -> dict[str, Any]:
    """
    Return how many points one contender verifies in some seconds, compilation included.
    """
    if contender in JUDGES:
        return drawn(work.fn, by_dims(work.spec), JUDGES[contender], seconds, first=False)
    return searched(target_of(work), seconds, FIRST_ORDER if contender == "autoprop" else None)


def default(work: Work, contender: str, seconds: float) -> dict[str, Any]:
    """
    Return what the default search costs, which is that of `verify` too.
    """
    return searched(target_of(work), None, None)


def _median(call: Any) -> tuple[float, float]:
    start = time.perf_counter()
    jax.block_until_ready(call())
    cold, times = time.perf_counter() - start, []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
        if sum(times) > 20:
            break
    return cold, statistics.median(times)


def screen(work: Work, contender: str, seconds: float) -> dict[str, Any]:
    """
    Return microseconds for each point that is screened, and of the function's own value and gradient at these rows.
    """
    from autoprop._search.screen import Screen, draw
    from autoprop._search.signatures import slots
    from autoprop.properties import chosen

    target = target_of(work)
    if contender == "autoprop":
        target = target.replace(properties=FIRST_ORDER)
    slot = slots(target, autoprop.Settings())[0]
    laws = [law for law in chosen(target) if law.order == 1 and law.why_not(slot.subject) is None]
    screener = Screen(slot, laws)
    rows = min(ROWS, screener.most)
    start = time.perf_counter()
    batch = draw(slot, rows, 0)
    drawing = time.perf_counter() - start
    cold, steady = _median(lambda: screener.scores(batch))
    if screener.error:
        return {"error": screener.error}
    leaves, treedef = jax.tree.flatten(batch.sample.tree)
    moved = tuple(i for i, leaf in enumerate(leaves) if np.issubdtype(np.asarray(leaf).dtype, np.floating))

    def flat(*own: Any) -> Any:
        return work.fn(*jax.tree.unflatten(treedef, own))

    own = jax.jit(jax.vmap(jax.value_and_grad(flat, argnums=moved), in_axes=tuple(batch.sample.axes)))
    _, baseline = _median(lambda: own(*leaves))
    micro = {"cold": cold, "steady": steady / rows, "own": baseline / rows, "drawing": drawing / rows}
    return {"rows": rows, "laws": [law.name for law in screener.laws], "ratio": steady / baseline} | {
        name: value if name == "cold" else 1e6 * value for name, value in micro.items()
    }


def load(path: Path) -> Any:
    """
    Import a file as a module.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _fault(zoo: str, slug: str) -> tuple[Any, Any, Any, bool]:
    """
    Return a faulty function's target, the function and arguments for `check_grads`, and whether it is of 64 bits.
    """
    if not zoo:
        sys.path.append(str(Path(__file__).parents[1] / "tests"))
        from zoo import FAULTS

        entry = FAULTS[int(slug.split("-")[0])]
        return autoprop.Target(entry.fn, hj.like(*entry.args), **entry.contract), entry.fn, entry.args, False
    name, _, version = slug.partition(":")
    module, score = load(Path(zoo) / f"{name}.py"), Path(zoo) / "score.py"
    fn = module.fixed if version else module.fn
    x64 = getattr(module, "META", {}).get("x64", False)
    with jax.enable_x64(x64):
        args = module.args()
        # a score.py knows what an author declares of each function
        known = load(score).target(module, name, fn) if score.exists() else None
        target = known or autoprop.Target(fn, hj.like(*args))
    if getattr(module, "META", {}).get("subject") == "gradient transform":
        return target, None, args, x64
    return target, fn, args, x64


def first(zoo: str, slug: str, contender: str, seconds: float) -> dict[str, Any]:
    """
    Return how long one contender takes to its first finding.
    """
    target, fn, args, x64 = _fault(zoo, slug)
    with jax.enable_x64(x64):
        if contender not in JUDGES:
            return first_found(target, seconds)
        if fn is None:
            return {"found": None, "seconds": 0.0, "skipped": "a gradient transform"}
        record = drawn(fn, by_example(args), JUDGES[contender], seconds, first=True)
        return record | {"found": record["complaint"] or "accused" if record["accused"] else None}


def main() -> None:
    """
    Measure, and print the record.
    """
    task = json.loads(sys.argv[1])
    compiled: list[float] = []
    hits: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiled.append(seconds) if event == COMPILED else None
    )
    jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event == FROM_CACHE else None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    if task["kind"] == "first":
        record = first(task["zoo"], task["work"], task["contender"], task["seconds"])
    else:
        measure = {"rate": rate, "screen": screen, "default": default, "warm": default}[task["kind"]]
        record = measure(WORKS[task["work"]], task["contender"], task["seconds"])
    record["wall"] = time.perf_counter() - start
    record["programs"], record["from_cache"] = len(compiled) - len(hits), len(hits)
    record["memory_before"], record["memory"] = (
        kib / 1024 for kib in (before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    )
    print(json.dumps({name: round(x, 4) if isinstance(x, float) else x for name, x in record.items()}))


if __name__ == "__main__":
    main()
