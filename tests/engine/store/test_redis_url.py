"""What a Redis URL says, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.errors import InvalidSettings
from stanchion.store.redis_url import RedisUrl, check_url, redact


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost",
        "redis://user:p%40ss@redis.example:6380/3",
        "redis://[::1]:6379/0?db=4",
        "rediss://localhost:6379/0?ssl_cert_reqs=none&ssl_check_hostname=false",
        "unix:///run/redis.sock?db=2&password=secret",
        "redis+sentinel://one,two:26380/mymaster",
    ],
)
def test_sound_urls(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:6379", "must begin with redis://"),
        ("http://localhost", "must begin with redis://"),
        ("redis://localhost:0/0", "port 0"),
        ("redis://localhost:99999/0", "out of range"),
        ("redis://localhost/queues", "database 'queues', which is no number"),
        ("redis://localhost?db=queues", "database 'queues', which is no number"),
        ("redis://localhost?socket_timeout=1", "unknown option socket_timeout; known are db"),
        ("redis://localhost?db", "bad query field"),
        ("redis://localhost?ssl_ca_certs=/ca.pem", "needs TLS: begin it with rediss"),
        ("rediss://localhost?ssl_ca_certs=/no/ca.pem", "/no/ca.pem as ssl_ca_certs, which is not there"),
        ("rediss://localhost?ssl_cert_reqs=maybe", "must be required, optional or none"),
        ("redis+sentinel://one,two", "what they call the primary; for example redis+sentinel://host1:26379"),
        ("redis+sentinel://one,,two/mymaster", "an empty name among its Sentinels"),
        ("redis+sentinel://one:99999/mymaster", "out of range"),
        ("redis+sentinel://one/mymaster/queues", "database 'queues', which is no number"),
    ],
)
def test_unsound_urls(url: str, says: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        check_url(url)
    assert says in str(caught.value)


def test_sentinels_their_login_and_the_server_behind_them(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.touch()
    parsed = RedisUrl.parse(
        "rediss+sentinel://user:p%2Fw@one:26380,two,[::1]:26381/mymaster/3"
        f"?sentinel_password=s%26p&ssl_ca_certs={certificate}"
    )
    assert parsed.sentinels == (("one", 26380), ("two", 26379), ("::1", 26381))
    assert (parsed.service, parsed.sentinel_login) == ("mymaster", {"password": "s&p"})
    assert parsed.server.startswith("rediss://user:p%2Fw@sentinel/3?ssl_ca_certs=")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://user:pw@redis.example:6380/3", "redis.example:6380"),
        ("redis://", "localhost:6379"),
        ("unix:///run/redis.sock?db=2", "/run/redis.sock"),
        ("redis+sentinel://user:pw@one,two:26380/mymaster", "mymaster of one:26379,two:26380"),
    ],
)
def test_the_address_holds_no_credentials(url: str, address: str) -> None:
    assert RedisUrl.parse(url).address == address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost/0", "redis://localhost/0"),
        ("redis://:pw@localhost", "redis://:***@localhost"),
        ("redis://user:p@w@localhost", "redis://user:***@localhost"),
        ("unix:///run/redis.sock?db=0&password=p@w", "unix:///run/redis.sock?db=0&password=***"),
        (
            "redis+sentinel://u:pw@one,two/m?sentinel_password=x",
            "redis+sentinel://u:***@one,two/m?sentinel_password=***",
        ),
        ("rediss://localhost?ssl_password=x&db=1", "rediss://localhost?ssl_password=***&db=1"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert redact(url) == shown
