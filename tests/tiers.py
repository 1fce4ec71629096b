"""The tiers of the tests, as a pytest plugin: run what this machine can serve, and say what it could not.

A test's marker is its tier; a test without one is `plain`. A tier whose needs are missing is left out as
a whole and named in the closing table, with what is missing. Under CI (the variable `CI`) a tier left out
fails the run, so that a green build never hides a tier; `keda` is excepted, it is run on demand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest

from rig import redis_versions
from stanchion.dev import redis_server
from stanchion.errors import StanchionError

PLAIN = "plain"
ON_DEMAND = "keda"


def _missing_redis() -> list[str]:
    try:
        redis_server.find()
    except StanchionError as error:
        return [str(error)]
    return []


def _missing_ruby() -> list[str]:
    if shutil.which("ruby") is None:
        return ["ruby and ruby-sidekiq (apt-get install ruby-sidekiq)"]
    probe = subprocess.run(["ruby", "-e", "require 'sidekiq'"], capture_output=True, check=False)
    return [] if probe.returncode == 0 else ["ruby-sidekiq (apt-get install ruby-sidekiq)"]


def _missing_browser() -> list[str]:
    return [] if shutil.which("chromium") else ["chromium (apt-get install chromium)"]


def _missing_cluster(tier: str) -> Callable[[], list[str]]:
    def missing() -> list[str]:
        from testcluster import requirements  # only where a cluster test was collected

        return requirements.missing(tier)

    return missing


def _missing_keda() -> list[str]:
    return [] if os.environ.get("STANCHION_TEST_KEDA") else ["STANCHION_TEST_KEDA=1 asks for it"]


NEEDS: dict[str, Callable[[], list[str]]] = {
    PLAIN: list,
    "redis": _missing_redis,
    **{tier: partial(redis_versions.missing, version) for tier, version in redis_versions.TIERS.items()},
    "ruby": _missing_ruby,
    "helm": _missing_cluster("helm"),
    "browser": _missing_browser,
    "api": _missing_cluster("api"),
    "node": _missing_cluster("node"),
    ON_DEMAND: _missing_keda,
}


@dataclass
class Tier:
    """What became of one tier in this run."""

    name: str
    missing: list[str]
    collected: int = 0
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def left_out(self) -> bool:
        return bool(self.missing) and self.collected > 0

    def row(self) -> str:
        if not self.collected:
            note = "no tests yet"
        elif self.left_out:
            note = f"left out, missing: {'; '.join(self.missing)}"
        else:
            note = "ran"
        counts = f"{self.collected:>6} {self.passed:>7} {self.failed:>7} {self.seconds:>8.1f}s"
        return f"{self.name:<9} {counts}  {note}"


@dataclass(eq=False)  # pytest keeps its plugins in sets: identity, not equality
class TierTable:
    """Sorts the tests into tiers, leaves out what cannot run, and reports at the end."""

    tiers: dict[str, Tier] = field(default_factory=dict)
    tier_of: dict[str, str] = field(default_factory=dict)

    @pytest.hookimpl(trylast=True)  # after -m and -k have chosen
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        order = list(NEEDS)
        by_tier: dict[str, list[pytest.Item]] = {name: [] for name in order}
        for item in items:
            # A test with several markers belongs to the most demanding one: the later in NEEDS.
            names = [name for name in order if item.get_closest_marker(name)]
            by_tier[names[-1] if names else PLAIN].append(item)
        left_out: list[pytest.Item] = []
        items.clear()
        for name, members in by_tier.items():
            tier = Tier(name, NEEDS[name]() if members else [], collected=len(members))
            self.tiers[name] = tier
            self.tier_of |= {item.nodeid: name for item in members}
            (left_out if tier.left_out else items).extend(members)
        if left_out:
            config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tier = self.tiers[self.tier_of[report.nodeid]]
        tier.seconds += report.duration
        if report.failed:
            tier.failed += 1
        elif report.when == "call" and report.passed:
            tier.passed += 1

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and self._blocking():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("tiers")
        terminalreporter.line(f"{'tier':<9} {'tests':>6} {'passed':>7} {'failed':>7} {'time':>9}")
        for tier in self.tiers.values():
            terminalreporter.line(tier.row())
        if names := self._blocking():
            terminalreporter.line(f"CI: these tiers were left out, which fails the run: {', '.join(names)}")

    def _blocking(self) -> list[str]:
        if not os.environ.get("CI"):
            return []
        return [tier.name for tier in self.tiers.values() if tier.left_out and tier.name != ON_DEMAND]


def pytest_configure(config: pytest.Config) -> None:
    for tier, version in redis_versions.TIERS.items():
        config.addinivalue_line("markers", f"{tier}: needs the redis-server of Redis {version}")
    config.pluginmanager.register(TierTable(), "tier-table")
