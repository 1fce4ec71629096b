"""A slip of a job's name is answered with the name that was meant, else with those there are."""

from __future__ import annotations

import pytest

from stanchion.admin.known_job import known_job
from stanchion.app import App
from stanchion.errors import UnknownJob


@pytest.fixture
def app() -> App:
    app = App()
    for name in ("mail.send", "mail.plain"):
        app.job(name=name)(lambda user: None)
    return app


def test_the_job_of_that_name_is_found(app: App) -> None:
    assert known_job(app, "mail.send").name == "mail.send"


def test_an_unknown_job_is_an_error_that_helps(app: App) -> None:
    with pytest.raises(UnknownJob, match=r"'mail\.sned'; did you mean 'mail\.send'"):
        known_job(app, "mail.sned")
    with pytest.raises(UnknownJob, match=r"it has mail\.plain, mail\.send"):
        known_job(app, "zzz")
    with pytest.raises(UnknownJob, match="it has none"):
        known_job(App(), "zzz")
