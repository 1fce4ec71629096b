"""What an application may hang between a call and its push, a policy a page."""

from stanchion.middleware.base import ClientMiddleware, apply

__all__ = ["ClientMiddleware", "apply"]
