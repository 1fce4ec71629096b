"""A Redis URL taken apart: which server or Sentinels, which user, which database, which certificates.

Called by `connection`, and by whoever wants a URL checked before it is used. No connection is made here; the
certificate files are looked at, because a missing one would else be reported as a network error for ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from stanchion.errors import InvalidSettings

SERVER_SCHEMES = ("redis", "rediss", "unix")
SENTINEL_SCHEMES = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
SENTINEL_PORT = 26379
CERTIFICATE_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
TLS_OPTIONS = (*CERTIFICATE_FILES, "ssl_ca_path", "ssl_password", "ssl_cert_reqs", "ssl_check_hostname")
SENTINEL_LOGIN = ("sentinel_username", "sentinel_password")
PASSWORD_OPTION = re.compile(r"(?<=[?&])(\w*password=)[^&]*")


@dataclass(frozen=True, slots=True)
class RedisUrl:
    """A URL that was found sound."""

    server: str
    """For redis-py. With Sentinels its host means nothing: they name the primary."""
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""
    """What the Sentinels call the primary."""
    sentinel_login: Mapping[str, str] = field(default_factory=dict)
    """`username` and `password` of the Sentinels themselves."""

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read a URL. Raises InvalidSettings, saying what is wrong with it and what to write instead."""
        try:
            parts = urlsplit(url)
            options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
            if parts.scheme in SENTINEL_SCHEMES:
                return cls._of_sentinels(parts, options)
            return cls._of_server(url, parts, options)
        except ValueError as error:
            raise InvalidSettings(f"the Redis URL {redact(url)!r} {error}") from None

    @property
    def address(self) -> str:
        """Where it leads, without credentials: a path, host and port, or the primary and its Sentinels."""
        parts = urlsplit(self.server)
        if self.sentinels:
            return f"{self.service} of {','.join(f'{host}:{port}' for host, port in self.sentinels)}"
        return (
            parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
        )

    @classmethod
    def _of_server(cls, url: str, parts: SplitResult, options: Mapping[str, str]) -> Self:
        if parts.scheme not in SERVER_SCHEMES:
            raise ValueError(
                "must begin with redis://, rediss://, unix:// or redis+sentinel://; "
                "for example redis://localhost:6379/0"
            )
        _check_port(parts)
        if parts.scheme == "unix":
            _check_options(options, ("db", "password"))
        else:
            _check_database(parts.path.strip("/"))
            _check_options(options, ("db", *(TLS_OPTIONS if parts.scheme == "rediss" else ())))
        _check_database(options.get("db", ""))
        return cls(url)

    @classmethod
    def _of_sentinels(cls, parts: SplitResult, options: Mapping[str, str]) -> Self:
        scheme = SENTINEL_SCHEMES[parts.scheme]
        _check_options(options, (*SENTINEL_LOGIN, *(TLS_OPTIONS if scheme == "rediss" else ())))
        credentials, at, hosts = parts.netloc.rpartition("@")
        service, _, database = parts.path.strip("/").partition("/")
        if not hosts or not service:
            raise ValueError(
                "must name the Sentinels and what they call the primary; "
                "for example redis+sentinel://host1:26379,host2:26379/mymaster/0"
            )
        _check_database(database)
        login = {name.removeprefix("sentinel_"): options[name] for name in SENTINEL_LOGIN if name in options}
        rest = urlencode({name: value for name, value in options.items() if name not in SENTINEL_LOGIN})
        server = f"{scheme}://{credentials}{at}sentinel/{database or 0}" + (f"?{rest}" if rest else "")
        return cls(server, tuple(map(_host_and_port, hosts.split(","))), service, login)


def check_url(url: str) -> None:
    """Raises InvalidSettings unless `url` is one we can connect to."""
    RedisUrl.parse(url)


def redact(url: str) -> str:
    """The URL with its passwords hidden, fit for logs and errors."""
    head, at, tail = PASSWORD_OPTION.sub(r"\1***", url).rpartition("@")
    if not at:
        return tail
    scheme, mark, credentials = head.partition("://")
    user = credentials.partition(":")[0]
    return f"{scheme}{mark}{user}:***@{tail}"


def _host_and_port(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    _check_port(parts)
    if not parts.hostname:
        raise ValueError("has an empty name among its Sentinels")
    return parts.hostname, parts.port or SENTINEL_PORT


def _check_port(parts: SplitResult) -> None:
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}") from None
    if port == 0:
        raise ValueError("has port 0")


def _check_database(text: str) -> None:
    if text and not text.isdigit():
        raise ValueError(f"names database {text!r}, which is no number")


def _check_options(options: Mapping[str, str], known: tuple[str, ...]) -> None:
    for name, value in options.items():
        if name in TLS_OPTIONS and name not in known:
            raise ValueError(f"has the option {name}, which needs TLS: begin it with rediss")
        if name not in known:
            raise ValueError(f"has the unknown option {name}; known are {', '.join(known)}")
        if name in CERTIFICATE_FILES and not Path(value).is_file():
            raise ValueError(f"names the file {value} as {name}, which is not there")
        if name == "ssl_cert_reqs" and value not in ("required", "optional", "none"):
            raise ValueError(f"has ssl_cert_reqs={value}; it must be required, optional or none")
