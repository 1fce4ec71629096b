"""Every Python block of the documentation runs, page by page, with a real Redis; so do the tests it shows."""

from __future__ import annotations

import inspect
import sys
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest

from rig.pages import PAGES, blocks, name
from stanchion.testing import inline, record

WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]
FIXTURES = {"stanchion_calls": record, "stanchion_ran": inline}
MODULE = "jobs"
"""What the tutorials call the file that their first block is saved as; later blocks import it."""


@pytest.mark.redis
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_the_code_on_the_page_runs(page: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)
    for block in blocks(page, "python"):
        exec(compile(block, name(page), "exec", dont_inherit=True), module.__dict__)
    for test in [value for key, value in vars(module).items() if key.startswith("test_")]:
        with ExitStack() as fixtures:
            asked = inspect.signature(test).parameters
            test(*(fixtures.enter_context(FIXTURES[fixture](module.app)) for fixture in asked))
