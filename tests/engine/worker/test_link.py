"""The talk between supervisor and child: any size, in order, and an end that is seen."""

from __future__ import annotations

import asyncio
import socket

from stanchion.worker.link import Link

LARGE_BYTES = 1_000_000
"""Above what an asyncio stream takes as one line."""


async def test_messages_of_any_size_arrive_in_order_until_the_other_side_hangs_up() -> None:
    ours, theirs = socket.socketpair()
    speaker, listener = await Link.open(ours), await Link.open(theirs)
    said: list[dict[str, object]] = [{"n": 1}, {"payload": "x" * LARGE_BYTES}, {"text": "two\nlines"}]

    async def speak() -> None:
        for message in said:
            speaker.send(message)
        await speaker.flush()
        speaker.close()

    speaking = asyncio.ensure_future(speak())
    assert [message async for message in listener.messages()] == said
    await speaking
    listener.close()


async def test_half_a_message_is_no_message() -> None:
    ours, theirs = socket.socketpair()
    listener = await Link.open(theirs)
    with ours:
        ours.sendall((10).to_bytes(8) + b'{"n":')
    assert [message async for message in listener.messages()] == []
    listener.close()
