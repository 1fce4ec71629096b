"""The acts in their order. An act is a module with `play(stage)`; it is bounded in time by itself."""

from __future__ import annotations

from stanchion.dev.demo.acts import burst, kill
from stanchion.dev.demo.stage import Act

ACTS: tuple[Act, ...] = (burst.play, kill.play)
