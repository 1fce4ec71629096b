"""`check`, `apply` and `explain` as a user meets them: exit codes, what is said where, and no traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from stanchion.cli.main import main
from stanchion.store import keys

QUEUE = """\
apiVersion: stanchion.dev/v1alpha1
kind: QueuePolicy
metadata: {name: imports, namespace: shop}
spec:
  retry: {maxRetries: 3}
  tenantFrom: [{path: "args[0]"}]
"""
LOCK = """\
apiVersion: stanchion.dev/v1alpha1
kind: LockPolicy
metadata: {name: once, namespace: shop}
spec:
  match: {queues: [imports]}
  lock: UntilExecuted
  key: {include: ["args[4]"]}
"""
APP = """\
import stanchion
app = stanchion.App()

@app.job(name="catalog.load", queue="imports")
def load(account: int) -> None: ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, with manifests and an application."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STANCHION_REDIS_URL", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "lock.yaml").write_text(LOCK)
    (tmp_path / "config_commands_shop.py").write_text(APP)
    yield tmp_path
    sys.modules.pop("config_commands_shop", None)


def test_check_accepts_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "queue.yaml", "lock.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == ["queue.yaml: ok, 1 QueuePolicy", "lock.yaml: ok, 1 LockPolicy"]
    assert err == ""


def test_check_names_file_line_and_field(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "queue.yaml").write_text(QUEUE.replace("maxRetries: 3", "maxRetries: -1"))
    assert main(["check", "."]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("queue.yaml:5: spec.retry.maxRetries: ")
    assert out.splitlines() == ["lock.yaml: ok, 1 LockPolicy", "queue.yaml: 1 problem"]


def test_check_of_nothing_is_a_wrong_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "deployment.yaml").write_text("{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}}")
    for path in ("absent.yaml", "deployment.yaml"):
        assert main(["check", path]) == 2
        assert capsys.readouterr().err.startswith(f"{path}: ")


def test_check_show_prints_the_hash(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "queue.yaml", "--show"]) == 0
    out = capsys.readouterr().out
    assert "stanchion:config:queue:imports\n" in out
    assert '  tenantFrom            [{"path":"args[0]"}]\n' in out


def test_check_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "queue.yaml", "--show", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["problems"] == []
    assert [manifest["name"] for manifest in answer["manifests"]] == ["imports"]
    assert answer["hashes"]["stanchion:config:queue:imports"]["retry.maxRetries"] == "3"


def test_check_with_an_app_compares_signatures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--app", "config_commands_shop:app"]) == 1
    assert "lock.yaml:7: spec.key.include[0]: args[4]: " in capsys.readouterr().err


def test_explain_from_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "catalog.load", "queue.yaml", "--app", "config_commands_shop:app"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["retries", "3", "QueuePolicy", "shop/imports"] in lines
    assert ["queue", "imports", "code"] in lines


def test_explain_of_an_unknown_job_is_a_wrong_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "catalog.laod", "queue.yaml", "--app", "config_commands_shop:app"]) == 2
    assert "did you mean 'catalog.load'?" in capsys.readouterr().err


def test_explain_from_two_sources_is_a_wrong_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", "queue.yaml", "--redis-url", "redis://localhost"]) == 2
    assert "two sources" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["apply", "queue.yaml"], ["explain", "catalog.load"]])
def test_a_redis_that_is_away_is_one_clear_line(
    command: list[str], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert main([*command, "--redis-url", "redis://user:secret@127.0.0.1:1/0"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "cannot be reached" in err
    assert "secret" not in err
    assert caplog.records == []


@pytest.mark.redis
def test_a_wrong_password_is_one_clear_line(
    redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    redis_client.config_set("requirepass", "right")
    try:
        for url, words in (
            (redis_url, "wants a password"),
            (redis_url.replace("redis://", "redis://:wrong@"), "refused the credentials"),
        ):
            assert main(["apply", "queue.yaml", "--redis-url", url]) == 1
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert words in err
    finally:
        redis_client.config_set("requirepass", "")


@pytest.mark.redis
def test_apply_writes_and_says_what(
    redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", ".", "--redis-url", redis_url, "--dry-run"]) == 0
    assert "queue/imports created (dry run)" in capsys.readouterr().out
    assert redis_client.keys() == []
    assert main(["apply", ".", "--redis-url", redis_url]) == 0
    assert capsys.readouterr().out.splitlines() == ["lock/shop/once created", "queue/imports created"]
    assert main(["apply", "queue.yaml", "--redis-url", redis_url, "--prune"]) == 0
    assert capsys.readouterr().out.splitlines() == ["queue/imports unchanged", "lock/shop/once pruned"]


@pytest.mark.redis
def test_apply_writes_nothing_of_a_set_with_a_problem(
    folder: Path, redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "lock.yaml").write_text(LOCK.replace("UntilExecuted", "Forever"))
    assert main(["apply", ".", "--redis-url", redis_url]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert redis_client.keys() == []


@pytest.mark.redis
def test_apply_of_a_foreign_hash_names_its_owner(
    redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "queue.yaml", "--redis-url", redis_url])
    redis_client.hset(keys.config("queue", "imports"), mapping={"managedBy": "install-1", "ownerUid": "u"})
    capsys.readouterr()
    assert main(["apply", "queue.yaml", "--redis-url", redis_url]) == 1
    out, err = capsys.readouterr()
    assert out == "queue/imports conflict\n"
    assert "belongs to shop/imports" in err
    assert "--take-over" in err
    assert main(["apply", "queue.yaml", "--redis-url", redis_url, "--take-over"]) == 0


@pytest.mark.redis
def test_apply_warns_of_a_lock_that_acts_on_nothing(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", "lock.yaml", "--redis-url", redis_url]) == 0
    assert "acts on no queue: no QueuePolicy in namespace shop matches it" in capsys.readouterr().err


@pytest.mark.redis
def test_explain_from_redis(
    redis_url: str, redis_client: redis.Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", ".", "--redis-url", redis_url])
    redis_client.sadd(keys.PAUSED, "imports")
    capsys.readouterr()
    command = ["explain", "catalog.load", "-q", "imports", "--redis-url", redis_url, "--json"]
    assert main(command) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["settings"]}
    assert found["retries"] == {"name": "retries", "value": 3, "source": "QueuePolicy shop/imports"}
    assert found["lock"]["value"] == "UntilExecuted"
    assert found["paused"]["value"] is True
