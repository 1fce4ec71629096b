"""Which of Sidekiq's dialects is written: pure facts about versions 6, 7 and 8.

Clients and workers ask it for every timestamp, process record and metrics key. It must never decide what is
read: all dialects always are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

WIRES = ("auto", "6", "7", "8")
"""What the setting `wire` may say: one version, or whatever the live Ruby processes understand."""
VERSIONS = {6: "6.4.1", 7: "7.3.9", 8: "8.1.7"}
"""The release of each dialect whose records ours were compared with."""
EVERY = frozenset(VERSIONS)
MILLISECONDS = 1000
MAJOR = re.compile(r"(\d{1,4})\.")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The major versions that must understand what is written."""

    majors: frozenset[int]

    @classmethod
    def of(cls, wire: str, versions: Iterable[str] = ()) -> Self:
        """What `wire` asks for; for `auto` the versions of the live Ruby processes.

        With none of them alive it is 7, with 6's and 8's own keys beside: a web page or a client that only
        pushes is no process, and nothing tells its version.
        """
        if wire != "auto":
            return cls(frozenset({int(wire)}))
        return cls(frozenset(major for version in versions if (major := major_of(version))) or EVERY)

    @property
    def version(self) -> str:
        """The version our process records state: of a mixed fleet the one in the middle."""
        return VERSIONS[min(self.majors)] if len(self.majors) == 1 else VERSIONS[7]

    @property
    def has_old_work(self) -> bool:
        """Running jobs stand under `<identity>:workers` too: Sidekiq up to 6.4.1 looks only there."""
        return 6 in self.majors

    def timestamp(self, seconds: float) -> float | int:
        """A job's time, given in epoch seconds: whole milliseconds where all read them (8), else seconds as
        a float, which every version reads. Scores of sorted sets are seconds in every version.
        """
        return round(seconds * MILLISECONDS) if self.majors == {8} else float(seconds)


SIDEKIQ_7 = Dialect(frozenset({7}))


def major_of(version: str) -> int | None:
    """The dialect a version speaks: its major number, or the nearest one we know. None for no version."""
    found = MAJOR.match(version)
    return min(max(int(found[1]), min(EVERY)), max(EVERY)) if found else None
