"""What an application may hang before each push (client) and around each run (server) of its jobs."""

from stanchion.middleware.client import ClientMiddleware, apply
from stanchion.middleware.registry import Middleware
from stanchion.middleware.server import ServerChain, ServerMiddleware, around

__all__ = ["ClientMiddleware", "Middleware", "ServerChain", "ServerMiddleware", "apply", "around"]
