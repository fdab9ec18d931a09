"""Best of several runs: the least disturbed one on a noisy machine."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_s(action: Callable[[], object], *, runs: int = 5) -> float:
    """Return the shortest wall time of ``runs`` calls, s."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
