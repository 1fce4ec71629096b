"""The App without Redis: its registry, calls by name, discovery, and how a command finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.app import App
from stanchion.app_loader import load_app
from stanchion.errors import CommandError, InvalidArguments, InvalidSettings
from stanchion.settings import Settings

MODULES = {
    "shop/__init__.py": "",
    "shop/jobs.py": "import stanchion\njobs = stanchion.JobSet('shop.')\n@jobs.job\ndef one(): ...\n",
    "shop/mail/__init__.py": "",
    "shop/mail/jobs/__init__.py": "import stanchion\nm = stanchion.JobSet('mail.')\n@m.job\ndef two(): ...\n",
    "shop/mail/other.py": "raise RuntimeError('only modules named jobs are imported')\n",
    "shop/main.py": "import stanchion\napp = stanchion.App()\nnumber = 7\n",
    "bare/__init__.py": "",
    "broken/__init__.py": "",
    "broken/inner/__init__.py": "1 / 0\n",
    "broken/inner/jobs.py": "",
    "typo/__init__.py": "",
    "typo/jobs.py": "import jsonn\n",
}


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package tree of its own, importable for one test."""
    for name, text in MODULES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [
        name for name in sys.modules if name.partition(".")[0] in ("shop", "bare", "broken", "typo")
    ]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


@pytest.mark.usefixtures("application")
def test_discover_finds_every_jobs_module_and_imports_no_other() -> None:
    app = App()
    app.discover("shop")
    assert sorted(app.registry) == ["mail.two", "shop.one"]
    app.discover("shop")


@pytest.mark.usefixtures("application")
@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("nowhere", "there is no module 'nowhere' on the import path"),
        ("shop.nowhere", "there is no module 'shop.nowhere'"),
        ("bare", "discover('bare') found no JobSet; it looked in: no module named jobs"),
        ("broken", "importing broken.inner failed: ZeroDivisionError"),
        ("typo", "importing typo.jobs failed: ModuleNotFoundError: No module named 'jsonn'"),
    ],
)
def test_discover_says_what_it_could_not_find(package: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        App().discover(package)
    assert message in str(caught.value)


@pytest.mark.usefixtures("application")
def test_an_app_is_found_by_module_and_attribute() -> None:
    app = load_app("shop.main:app", redis_url="redis://elsewhere:1/0")
    assert app.settings.redis_url == "redis://elsewhere:1/0"


@pytest.mark.usefixtures("application")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("shop.main", "'shop.main' names no App; write MODULE:ATTRIBUTE"),
        (":app", "':app' names no App"),
        ("shop.nowhere:app", "there is no module 'shop.nowhere'"),
        ("shop.main:wrong", "shop.main has no attribute 'wrong'; did you mean shop.main:app?"),
        ("shop.main:number", "shop.main:number is a int, no stanchion.App; did you mean shop.main:app?"),
        ("bare:app", "bare has no attribute 'app'; it holds no stanchion.App at all"),
        ("typo.jobs:app", "importing typo.jobs failed: ModuleNotFoundError: No module named 'jsonn'"),
    ],
)
def test_a_wrong_path_to_the_app_says_where_it_ends(path: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        load_app(path)
    assert message in str(caught.value)


def test_a_call_by_name_is_checked_against_a_known_signature() -> None:
    app = App()

    @app.job(queue="mail", retries=3)
    def welcome(user: int, *, lang: str = "en") -> None: ...

    call = app.call("welcome", [7])
    assert (call.args, call.queue, call.retries) == ([7, {"lang": "en"}], "mail", 3)
    with pytest.raises(InvalidArguments, match="args must be a list of arguments, not int"):
        app.call("welcome", 7)  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments, match=r"job welcome\(user, \*, lang='en'\): the payload"):
        app.call("welcome", [])


def test_a_call_by_an_unknown_name_needs_no_code() -> None:
    call = App().call("other.job", [7, {"rows": []}], queue="imports")
    assert (call.name, call.args, call.queue, call.retries) == (
        "other.job",
        [7, {"rows": []}],
        "imports",
        None,
    )
    with pytest.raises(InvalidArguments, match="a job cannot be named ''"):
        App().call("")
    with pytest.raises(InvalidArguments, match="args must be a list of arguments, not str"):
        App().call("other.job", "text")


def test_the_argument_beats_the_settings_and_they_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", "redis://from-environment:1/0")
    assert App().settings.redis_url == "redis://from-environment:1/0"
    assert App("redis://stated:1/0").settings.redis_url == "redis://stated:1/0"
    assert App(settings=Settings()).settings.redis_url == "redis://localhost:6379/0"
    with pytest.raises(InvalidSettings):
        App(on_refused="ignore")  # type: ignore[arg-type]


def test_importing_the_package_loads_neither_redis_nor_asyncio() -> None:
    # What keeps `import stanchion` cheap for a module that only declares jobs.
    program = (
        "import sys, stanchion; stanchion.App(); print([m for m in ('redis', 'asyncio') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert ran.stdout.strip() == "[]"
