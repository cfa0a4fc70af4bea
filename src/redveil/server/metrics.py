"""Numbers for Prometheus. They depend on requests and on states of jobs, on nothing private."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Final

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Upper ends of the buckets for the duration of requests, in seconds.
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What a server has done since it was started.

    >>> metrics = Metrics()
    >>> metrics.request("/v1/me", 200, 0.002)
    >>> 'redveil_requests_total{route="/v1/me",status="200"} 1' in metrics.text({}, 0)
    True
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: Counter[float] = Counter()
        self._seconds = 0.0
        self._wrong_tokens = 0

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request by its route, never by its address."""
        with self._lock:
            self._requests[route, status] += 1
            self._seconds += seconds
            for end in BUCKETS:
                self._durations[end] += seconds <= end

    def wrong_token(self) -> None:
        """Count a request with a token that does not work."""
        with self._lock:
            self._wrong_tokens += 1

    def text(self, jobs: Mapping[str, int], streams: int) -> str:
        """Return all numbers in the format of Prometheus."""
        with self._lock:
            total = sum(self._requests.values())
            lines = ["# TYPE redveil_requests_total counter"]
            for (route, status), count in sorted(self._requests.items()):
                labels = f'route="{route}",status="{status}"'
                lines.append(f"redveil_requests_total{{{labels}}} {count}")
            name = "redveil_request_seconds"
            lines.append(f"# TYPE {name} histogram")
            lines += [f'{name}_bucket{{le="{end}"}} {self._durations[end]}' for end in BUCKETS]
            lines.append(f'{name}_bucket{{le="+Inf"}} {total}')
            lines += [f"{name}_sum {self._seconds:.6f}", f"{name}_count {total}"]
            lines.append("# TYPE redveil_wrong_tokens_total counter")
            lines.append(f"redveil_wrong_tokens_total {self._wrong_tokens}")
        lines.append("# TYPE redveil_jobs gauge")
        lines += [f'redveil_jobs{{state="{state}"}} {count}' for state, count in jobs.items()]
        lines += ["# TYPE redveil_event_streams gauge", f"redveil_event_streams {streams}"]
        return "\n".join(lines) + "\n"
