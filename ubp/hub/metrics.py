"""Counters in the text format that Prometheus reads; no name of a repository or reader."""

from collections import Counter
from threading import Lock

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Upper bounds of the histogram, in seconds.
BOUNDS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


class Metrics:
    """How many calls there were, of which kind, and how long they took."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, int]] = Counter()
        self._pushes: Counter[str] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0
        self._lock = Lock()

    def call(self, method: str, status: int, seconds: float) -> None:
        """Count a call."""
        with self._lock:
            self._calls[method, status] += 1
            self._seconds += seconds
            self._buckets.update(bound for bound in BOUNDS if seconds <= bound)

    def push(self, outcome: str) -> None:
        """Count a push by its outcome."""
        with self._lock:
            self._pushes[outcome] += 1

    def text(self) -> str:
        """Return all counters."""
        with self._lock:
            calls, pushes = dict(self._calls), dict(self._pushes)
            buckets, seconds = dict(self._buckets), self._seconds
        total = sum(calls.values())
        lines = ["# TYPE ubp_hub_calls_total counter"]
        lines += [
            f'ubp_hub_calls_total{{method="{method}",status="{status}"}} {number}'
            for (method, status), number in sorted(calls.items())
        ]
        lines.append("# TYPE ubp_hub_pushes_total counter")
        lines += [
            f'ubp_hub_pushes_total{{outcome="{outcome}"}} {number}'
            for outcome, number in sorted(pushes.items())
        ]
        lines.append("# TYPE ubp_hub_call_seconds histogram")
        lines += [
            f'ubp_hub_call_seconds_bucket{{le="{bound}"}} {buckets.get(bound, 0)}'
            for bound in BOUNDS
        ]
        lines.append(f'ubp_hub_call_seconds_bucket{{le="+Inf"}} {total}')
        lines.append(f"ubp_hub_call_seconds_sum {seconds:.6f}")
        lines.append(f"ubp_hub_call_seconds_count {total}")
        return "\n".join(lines) + "\n"
