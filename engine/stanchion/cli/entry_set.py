"""What `dead`, `retry` and `schedule` are made of: a sorted set, its columns, what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import redis

from stanchion.admin.actions import Action
from stanchion.admin.selection import Found


@dataclass(frozen=True, slots=True)
class Verb:
    """One action. `past` is its past participle; `warning` what a person must know before so many entries are
    touched, empty if nothing.
    """

    name: str
    past: str
    help: str
    action: Callable[[redis.Redis], Action]
    warning: Callable[[redis.Redis, int], str] = lambda client, count: ""


@dataclass(frozen=True, slots=True)
class EntrySet:
    """One sorted set of jobs. `score_means` names its score in JSON; `row` makes a line of `ls` at a time."""

    key: str
    noun: str
    score_means: str
    titles: tuple[str, ...]
    row: Callable[[Found, float], tuple[str, ...]]
    verbs: tuple[Verb, ...]
    newest_first: bool = False
