"""LockPolicies and TenantBudgets: on every Redis of their queues that is known, whatever keeps the others."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis

from stanchion_operator.decide.report import Report
from stanchion_operator.kube.paths import LOCK_POLICY, QUEUE_POLICY, Key
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.reconcile.declared import Declared
from stanchion_operator.reconcile.rules import Rules
from stanchion_operator.redis_config.servers import Servers

pytestmark = pytest.mark.redis

LOCK = Key(LOCK_POLICY, "shop", "once")
MANIFEST = {
    "metadata": {"name": "once", "namespace": "shop", "uid": "l1"},
    "spec": {"match": {"queues": ["*"]}, "lock": "UntilExecuted"},
}
HASH = "stanchion:config:lock:shop/once"


def _secret(url: str) -> dict[str, Any]:
    return {"metadata": {"uid": url}, "data": {"url": base64.b64encode(url.encode()).decode()}}


class Shop:
    """One lock over two queues, each on a Redis named by a Secret of its own."""

    def __init__(self, secrets: dict[str, dict[str, Any]]) -> None:
        self.secrets = secrets
        declared = Declared()
        for name in ("first", "second"):
            metadata = {"name": name, "namespace": "shop", "uid": name}
            spec = {"redis": {"secretRef": {"name": name}}}
            declared.update(
                Key(QUEUE_POLICY, "shop", name),
                {"metadata": metadata, "spec": spec},
            )
        declared.update(LOCK, MANIFEST)
        self.servers = Servers(self._read, "default", frozenset({"first", "second"}))
        writer = ConfigWriter("install/one", lambda: 1, lambda: None)
        self._rules = Rules(declared, self.servers, writer, enforced=True)

    async def _read(self, namespace: str, name: str) -> dict[str, Any] | None:
        return self.secrets.get(name)

    async def reason(self) -> str:
        """Why the config is, or is not, in every Redis."""
        report = await self._rules.reconcile(LOCK, MANIFEST)
        assert isinstance(report, Report)
        return next(each.reason for each in report.conditions if each.type == "ConfigSynced")


@pytest.fixture
async def shop(redis_url: str) -> AsyncIterator[Shop]:
    made = Shop({"first": _secret(redis_url), "second": _secret(redis_url.rpartition("/")[0] + "/1")})
    yield made
    await made.servers.close()


@pytest.mark.parametrize("missing", ["first", "second"])
async def test_a_missing_secret_keeps_the_config_from_no_other_redis(
    shop: Shop, redis_client: redis.Redis, missing: str
) -> None:
    left = shop.secrets.pop(missing)
    assert await shop.reason() == "SecretMissing"
    redis_client.select(0 if missing == "second" else 1)
    assert redis_client.exists(HASH)
    shop.secrets[missing] = left
    assert await shop.reason() == "InRedis"


async def test_a_secret_that_goes_missing_costs_its_redis_nothing(
    shop: Shop, redis_client: redis.Redis
) -> None:
    assert await shop.reason() == "InRedis"
    left = shop.secrets.pop("first")
    assert await shop.reason() == "SecretMissing"
    assert redis_client.exists(HASH)
    shop.secrets["first"] = shop.secrets["second"]
    assert await shop.reason() == "InRedis"
    assert not redis_client.exists(HASH), "the lock has no queue there any more"
    shop.secrets["first"] = left
