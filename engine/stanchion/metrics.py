"""Every Prometheus series of the engine, with bounded labels, and the buckets runtimes are counted in.

A child process tallies and sends its tallies to its supervisor, which adds them up and serves them. Labels
are queue names, names of registered jobs and words from closed lists, never tenants, ids or error texts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

RUNTIME_LIMITS_MS = (
    *(20, 30, 45, 65, 100, 150, 225, 335, 500, 750, 1100, 1700, 2500, 3800, 5750, 8500, 13000, 20000),
    *(30000, 45000, 65000, 100000, 150000, 225000, 335000),
)
"""Upper limits (exclusive) of all buckets but the last, the same as Sidekiq's, so that figures compare."""


def runtime_bucket(milliseconds: int) -> int:
    """The bucket of a runtime, 0 to 25."""
    return bisect_right(RUNTIME_LIMITS_MS, milliseconds)


class Kind(StrEnum):
    """What Prometheus calls a series."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Series:
    """A declared series. Counters get `_total` appended when they are served."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()


JOBS = Series(
    "stanchion_jobs",
    Kind.COUNTER,
    "Attempts that ended, by what became of the job: done, retry, dead, discard, snooze, expired (not run)",
    ("queue", "job", "outcome"),
)
TIMED_OUT = Series(
    "stanchion_jobs_timed_out", Kind.COUNTER, "Attempts that outlived their time limit", ("queue", "job")
)
LEASED = Series("stanchion_jobs_leased", Kind.COUNTER, "Jobs taken from a queue", ("queue",))
LEASES = Series("stanchion_leases", Kind.GAUGE, "Jobs in this process's hands")
SLOTS = Series("stanchion_slots", Kind.GAUGE, "Jobs this process can run at once")
CHILDREN = Series("stanchion_children", Kind.GAUGE, "Child processes that are running")
CHILD_ENDS = Series(
    "stanchion_child_ends", Kind.COUNTER, "Child processes that ended, by reason", ("reason",)
)
RETURNED = Series(
    "stanchion_jobs_returned", Kind.COUNTER, "Jobs returned to their queue, by whose they were", ("from",)
)
QUARANTINED = Series(
    "stanchion_jobs_quarantined", Kind.COUNTER, "Jobs buried because process after process died over them"
)
LEASES_LOST = Series("stanchion_leases_lost", Kind.COUNTER, "Outcomes that came after the job was recovered")
OUTCOMES_REFUSED = Series(
    "stanchion_outcomes_refused", Kind.COUNTER, "Outcomes Redis refused; they are retried"
)
TRIPS = Series(
    "stanchion_trips", Kind.COUNTER, "Calls that record outcomes and fetch jobs, by answer", ("status",)
)
TRIP_OUTCOMES = Series("stanchion_trip_outcomes", Kind.COUNTER, "Outcomes sent in trips")
TRIP_SECONDS = Series("stanchion_trip_seconds", Kind.COUNTER, "Time spent waiting for trips")
REDIS_ERRORS = Series("stanchion_redis_errors", Kind.COUNTER, "Failed calls to Redis, by part", ("part",))
PROMOTED = Series("stanchion_jobs_promoted", Kind.COUNTER, "Due jobs made ready, by set", ("set",))
SCHEDULER_LAG = Series(
    "stanchion_scheduler_lag_seconds", Kind.GAUGE, "How late the last promoted job was made ready"
)
TICKS = Series("stanchion_periodic_ticks", Kind.COUNTER, "Ticks of periodic jobs enqueued, by job", ("job",))
LOOP_LAG = Series(
    "stanchion_child_silence_seconds", Kind.GAUGE, "Longest silence of a child's event loop now"
)
BEAT_SECONDS = Series("stanchion_beat_seconds", Kind.GAUGE, "Round trip of the last heartbeat")
MAY_EVICT = Series(
    "stanchion_redis_may_evict", Kind.GAUGE, "1 when Redis may evict keys, and jobs with them, to save memory"
)
QUIET = Series("stanchion_quiet", Kind.GAUGE, "1 when this process takes no more jobs")

ALL = (
    *(JOBS, TIMED_OUT, LEASED, LEASES, SLOTS, CHILDREN, CHILD_ENDS, RETURNED, QUARANTINED, LEASES_LOST),
    *(OUTCOMES_REFUSED, TRIPS, TRIP_OUTCOMES, TRIP_SECONDS, REDIS_ERRORS, PROMOTED, SCHEDULER_LAG, TICKS),
    *(LOOP_LAG, BEAT_SECONDS, MAY_EVICT, QUIET),
)
RUNTIME = "stanchion_job_runtime_seconds"
"""Histogram of runtimes by queue and job, over the 26 buckets."""

EXECUTIONS = "sidekiq_executions"
"""Counted and handed on like a series, but for Sidekiq's page and not for Prometheus."""
BUCKET = "b"
Executions = Mapping[tuple[str, str], float]
"""By job and `p` (runs), `f` (failures), `ms` (of successes), or `b0`…`b25` (successes in a bucket)."""

Entry = tuple[str, tuple[str, ...], float]
"""Series name, label values, amount: how a tally crosses from child to supervisor."""


class Tally:
    """Numbers by series and labels. One event loop writes it; nothing here blocks."""

    def __init__(self) -> None:
        self._numbers: defaultdict[tuple[str, tuple[str, ...]], float] = defaultdict(float)
        self._runs: defaultdict[tuple[str, str, int, bool], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, series: Series, *labels: str, amount: float = 1.0) -> None:
        """Count up."""
        self._numbers[series.name, labels] += amount

    def set(self, series: Series, *labels: str, to: float) -> None:
        """Set a gauge."""
        self._numbers[series.name, labels] = to

    def observe_runtime(self, queue: str, job: str, milliseconds: int, *, failed: bool) -> None:
        """Count one run in its bucket and in the sum, and for Sidekiq's metrics page."""
        run = self._runs[queue, job, runtime_bucket(milliseconds), failed]
        run[0] += 1
        run[1] += milliseconds

    def _spread_runs(self) -> None:
        """Runs alike are counted together, and become six numbers each only when somebody asks."""
        for (queue, job, bucket, failed), (count, milliseconds) in self._runs.items():
            self._numbers[RUNTIME, (queue, job, str(bucket))] += count
            self._numbers[RUNTIME, (queue, job, "sum")] += milliseconds / 1000
            if not job:  # bytes that were no job
                continue
            self._numbers[EXECUTIONS, (job, "p")] += count
            if failed:
                self._numbers[EXECUTIONS, (job, "f")] += count
            else:
                self._numbers[EXECUTIONS, (job, "ms")] += milliseconds
                self._numbers[EXECUTIONS, (job, f"{BUCKET}{bucket}")] += count
        self._runs.clear()

    def take(self) -> list[Entry]:
        """Everything since the last call; the tally starts again at nothing."""
        self._spread_runs()
        entries = [(name, labels, amount) for (name, labels), amount in self._numbers.items()]
        self._numbers.clear()
        return entries

    def take_executions(self) -> Executions:
        """What was counted for Sidekiq's metrics page since the last call."""
        self._spread_runs()
        found = {key: number for key, number in self._numbers.items() if key[0] == EXECUTIONS}
        for key in found:
            del self._numbers[key]
        return {(job, what): number for (_, (job, what)), number in found.items()}

    def merge(self, entries: Iterable[Entry]) -> None:
        """Add what another process took from its tally."""
        for name, labels, amount in entries:
            self._numbers[name, tuple(labels)] += amount

    def of(self, name: str) -> Mapping[tuple[str, ...], float]:
        """The numbers of one series by label values."""
        self._spread_runs()
        return {labels: number for (series, labels), number in self._numbers.items() if series == name}


class TallyCollector(Collector):
    """Serves a tally as Prometheus families."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def collect(self) -> Iterator[Metric]:
        """Called by prometheus_client at each scrape."""
        for series in ALL:
            family = _FAMILIES[series.kind](series.name, series.help, labels=series.labels)
            numbers = self._tally.of(series.name)
            if not numbers and not series.labels:
                family.add_metric((), 0)
            for labels, number in numbers.items():
                family.add_metric(labels, number)
            yield family
        yield self._runtimes()

    def _runtimes(self) -> HistogramMetricFamily:
        family = HistogramMetricFamily(RUNTIME, "Runtime of attempts", labels=("queue", "job"))
        numbers = self._tally.of(RUNTIME)
        for queue, job in {labels[:2] for labels in numbers}:
            total, buckets = 0.0, []
            for index, limit in enumerate((*(ms / 1000 for ms in RUNTIME_LIMITS_MS), "+Inf")):
                total += numbers.get((queue, job, str(index)), 0)
                buckets.append((str(limit), total))
            family.add_metric((queue, job), buckets, numbers[queue, job, "sum"])
        return family


_FAMILIES = {Kind.COUNTER: CounterMetricFamily, Kind.GAUGE: GaugeMetricFamily}
