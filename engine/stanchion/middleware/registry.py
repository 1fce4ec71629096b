"""The middleware of one App, as its `app.middleware`: what decorators register, clients and workers read."""

from __future__ import annotations

from typing import TypeVar

from stanchion.errors import InvalidArguments
from stanchion.middleware.client import ClientMiddleware
from stanchion.middleware.server import ServerMiddleware, is_async

C = TypeVar("C", bound=ClientMiddleware)
S = TypeVar("S", bound=ServerMiddleware)


class Middleware:
    """Two chains; what is registered first runs first (client) or stands outermost (server)."""

    def __init__(self) -> None:
        self.client_chain: list[ClientMiddleware] = []
        self.server_chain: list[ServerMiddleware] = []

    def client(self, function: C) -> C:
        """Register a plain function from record to record, run before each call is sent:
        `@app.middleware.client`. Raises InvalidArguments for an async one: a blocking call could not run it.
        """
        if is_async(_checked(function)):
            raise InvalidArguments(f"the client middleware {function!r} must be a plain function, not async")
        self.client_chain.append(function)
        return function

    def server(self, function: S) -> S:
        """Register an async or plain function of the job and `call_next`, run around each job by workers:
        `@app.middleware.server`.
        """
        self.server_chain.append(_checked(function))
        return function


F = TypeVar("F", bound=ClientMiddleware | ServerMiddleware)


def _checked(function: F) -> F:
    if not callable(function):
        raise InvalidArguments(
            f"{function!r} is no middleware: register a function, as in @app.middleware.server, "
            "without parentheses"
        )
    return function
