"""Config hashes: written where they belong, remembered, taken back, and swept when nobody declares them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Set

from stanchion.policy.contract import Config, ConfigHash, encode
from stanchion.store import config
from stanchion.store.config import WriteResult
from stanchion_operator import metrics
from stanchion_operator.errors import Unreachable
from stanchion_operator.kube.paths import Key
from stanchion_operator.redis_config.server import Server

WORST_FIRST = ("conflict", "stale", "repaired", "adopted", "updated", "created", "unchanged")


class ConfigWriter:
    """The only writer of config hashes. `fence` gives the number of times the Lease has changed hands."""

    def __init__(self, managed_by: str, fence: Callable[[], int], check: Callable[[], None]) -> None:
        self._managed_by, self._fence, self._check = managed_by, fence, check
        self._entries: dict[Key, str] = {}
        self._places: dict[Key, set[Server]] = defaultdict(set)

    async def write(
        self,
        key: Key,
        policy: Config,
        servers: Iterable[Server],
        *,
        take_over: bool = False,
        take_over_from: Collection[str] = (),
        all_known: bool = True,
    ) -> WriteResult:
        """Write one policy to every server it belongs to; the worst outcome is the answer.

        A hash that a loser of `take_over_from` wrote before we saw the rightful owner is taken over.
        What was written elsewhere before is taken back, unless not `all_known`: a Secret that is missing for
        a moment must not cost its Redis the config. Raises Unreachable if any of the servers is away, once
        every other has its hash.
        """
        self._check()
        wanted = set(servers)
        hash_ = encode(policy, self._managed_by)
        former = self._places[key] - wanted
        for left in former if all_known else ():
            await self._delete(left, hash_.entry)
        self._entries[key] = hash_.entry
        self._places[key] = wanted if all_known else wanted | former
        results, away = [WriteResult("unchanged", "")], None
        for server in wanted:
            try:
                results.append(await self._write_to(server, hash_, take_over, take_over_from))
            except Unreachable as error:
                away = error
        if away is not None:
            raise away
        return min(results, key=lambda result: WORST_FIRST.index(result.outcome))

    async def _write_to(
        self, server: Server, hash_: ConfigHash, take_over: bool, take_over_from: Collection[str]
    ) -> WriteResult:
        result = await server.ask(
            lambda client: config.write(client, hash_, fence=self._fence(), take_over=take_over)
        )
        if result.outcome == "conflict" and result.owner in take_over_from:
            result = await server.ask(
                lambda client: config.write(client, hash_, fence=self._fence(), take_over=True)
            )
        if result.outcome == "repaired":
            metrics.REPAIRS.labels(hash_.kind).inc()
        return result

    async def remove(self, key: Key) -> None:
        """Delete what was written for a policy; a server that is away is swept when it is back."""
        self._check()
        entry, places = self._entries.pop(key, None), self._places.pop(key, set())
        for server in places:
            if entry is not None and entry not in self._kept(server):
                await self._delete(server, entry)

    async def is_anothers(self, server: Server, policy: Config) -> bool:
        """Whether another policy's hash stands where this one's would. No hash at all is nobody else's."""
        hash_ = encode(policy, self._managed_by)
        fields = await server.ask(lambda client: config.read(client, hash_.kind, hash_.name))
        return fields.get("ownerUid", policy.owner.uid) != policy.owner.uid

    async def sweep(self, server: Server, declared: Set[str]) -> list[str]:
        """Delete our hashes on `server` that are not `declared` (index entries); returns their entries."""
        self._check()
        removed = await server.ask(
            lambda client: config.sweep(client, self._managed_by, declared, fence=self._fence())
        )
        return list(removed)

    def keys_on(self, server: Server) -> list[Key]:
        """The policies written to a server: all of them are to be looked at when it has lost its memory."""
        return [key for key, places in self._places.items() if server in places]

    def used(self) -> set[Server]:
        """Every server that some policy is written to."""
        return set().union(*self._places.values()) if self._places else set()

    def _kept(self, server: Server) -> set[str]:
        return {entry for key, entry in self._entries.items() if server in self._places[key]}

    async def _delete(self, server: Server, entry: str) -> None:
        kind, _, name = entry.partition("/")
        try:
            await server.ask(
                lambda client: config.delete(client, kind, name, "", self._managed_by, fence=self._fence())
            )
        except Unreachable:
            return  # the sweep finds it
