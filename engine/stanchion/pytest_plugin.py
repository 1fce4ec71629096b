"""Fixtures for an application's tests; pytest finds them by itself once `stanchion` is installed.

They ask for the App where the ini option `stanchion_app = shop.jobs:app` says, or in a `stanchion_app`
fixture of the test suite's own. Imports wait for the fixtures: every run of pytest loads this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stanchion.app import App
    from stanchion.call import Call
    from stanchion.testing import Ran

OPTION = "stanchion_app"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Make the option known."""
    parser.addini(OPTION, "where stanchion's fixtures find the App: module:attribute")


@pytest.fixture
def stanchion_app(pytestconfig: pytest.Config) -> App:
    """The App under test."""
    path = pytestconfig.getini(OPTION)
    if not path:
        raise pytest.UsageError(
            f"stanchion's fixtures know no App: set {OPTION} = module:attribute in pytest's configuration, "
            f"or write a fixture named {OPTION} that returns it"
        )
    from stanchion.app_loader import load_app
    from stanchion.errors import StanchionError

    try:
        return load_app(path)
    except StanchionError as error:
        raise pytest.UsageError(f"{OPTION} = {path}: {error}") from None


@pytest.fixture
def stanchion_calls(stanchion_app: App) -> Iterator[list[Call]]:
    """Nothing the test enqueues reaches Redis: it is recorded in this list, as by `testing.record`."""
    from stanchion.testing import record

    with record(stanchion_app) as calls:
        yield calls


@pytest.fixture
def stanchion_ran(stanchion_app: App) -> Iterator[list[Ran]]:
    """What the test enqueues runs at once and is listed here, as by `testing.inline`."""
    from stanchion.testing import inline

    with inline(stanchion_app) as ran:
        yield ran
