"""Each form of a Redis URL against a server that asks for it, and what is said when it does not fit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from redis.exceptions import AuthenticationError

from rig.certificates import Authority
from rig.redis_node import RedisNode, free_port
from stanchion.errors import RedisUnavailable
from stanchion.store import connection

pytestmark = pytest.mark.redis


async def answers(url: str) -> bool:
    """Whether a blocking and an asyncio client both get through. Raises RedisUnavailable."""
    with connection.readable_errors(url), connection.connect(url, timeout_seconds=2) as client:
        blocking = client.ping()
    with connection.readable_errors(url):
        async with connection.connect_async(url, timeout_seconds=2) as aclient:
            return bool(blocking and await aclient.ping())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_url(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that speaks TLS only and asks its clients for a certificate."""
    (certificate, key), tls_port = authority.issue("server"), free_port()
    settings = (
        f"tls-port {tls_port}",
        f"tls-cert-file {certificate}",
        f"tls-key-file {key}",
        f"tls-ca-cert-file {authority.ca}",
    )
    with RedisNode(tmp_path_factory.mktemp("tls"), *settings):
        yield f"rediss://127.0.0.1:{tls_port}/0"


async def test_tls_with_an_authority_and_a_certificate_of_our_own(tls_url: str, authority: Authority) -> None:
    certificate, key = authority.issue("client")
    options = f"ssl_ca_certs={authority.ca}&ssl_certfile={certificate}&ssl_keyfile={key}"
    assert await answers(f"{tls_url}?{options}")
    assert await answers(f"{tls_url}?{options}&ssl_cert_reqs=none&ssl_check_hostname=false")


async def test_an_unknown_authority_is_named_as_the_trouble(tls_url: str) -> None:
    with pytest.raises(RedisUnavailable, match=r"TLS with Redis .* failed .*check the ssl_… options"):
        await answers(tls_url)


async def test_a_client_certificate_that_is_asked_for_must_be_there(
    tls_url: str, authority: Authority
) -> None:
    with pytest.raises(RedisUnavailable):
        await answers(f"{tls_url}?ssl_ca_certs={authority.ca}")


async def test_a_user_a_database_and_a_name(redis_url: str, redis_client: redis.Redis) -> None:
    redis_client.acl_setuser("shop", enabled=True, passwords=["+p@ss/word"], commands=["+@all"], keys=["*"])
    try:
        base = redis_url.removeprefix("redis://").removesuffix("/0")
        url = f"redis://shop:p%40ss%2Fword@{base}/3"
        assert await answers(url)
        with connection.connect(url, name="stanchion-test") as client:
            client.set("where", "three")
            info = client.client_info()
            assert (info["name"], info["db"], info["user"]) == ("stanchion-test", 3, "shop")
        assert redis_client.get("where") is None
        with pytest.raises(RedisUnavailable, match=r"refused the credentials .*check user and password"):
            await answers(f"redis://shop:wrong@{base}/3")
        redis_client.acl_setuser("shop", reset=False, enabled=True, commands=["-ping"])
        with pytest.raises(RedisUnavailable, match=r"denies this user a command"):
            await answers(url)
    finally:
        redis_client.acl_deluser("shop")


@pytest.mark.parametrize("words", ["Authentication required.", "HELLO must be called with the client"])
def test_a_password_that_is_missing_is_asked_for(words: str) -> None:
    with (
        pytest.raises(RedisUnavailable, match=r"wants a password: put it into the URL"),
        connection.readable_errors("redis://queue/0"),
    ):
        raise AuthenticationError(words)


async def test_sentinels_that_know_no_such_primary(closed_url: str) -> None:
    url = closed_url.replace("redis://", "redis+sentinel://").replace("/0", "/mymaster/0")
    with pytest.raises(RedisUnavailable, match=r"the Sentinels in .* name no primary .*mymaster"):
        await answers(url)
