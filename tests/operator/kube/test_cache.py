from __future__ import annotations

from typing import Any

from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.paths import DEPLOYMENT, QUEUE_POLICY, Key

KEY = Key(QUEUE_POLICY, "a", "q")


def manifest(version: int, *, uid: str = "u1", name: str = "q", **more: Any) -> dict[str, Any]:
    metadata = {"namespace": "a", "name": name, "uid": uid, "resourceVersion": str(version)}
    return {"metadata": metadata | {"managedFields": ["large"]}, **more}


def version(cache: Cache) -> str:
    found = cache.get(KEY)
    assert found is not None
    return str(found["metadata"]["resourceVersion"])


def test_a_watch_that_lags_does_not_undo_our_own_write() -> None:
    cache = Cache()
    cache.put(KEY, manifest(10))
    cache.put(KEY, manifest(9))
    assert version(cache) == "10"
    cache.put(KEY, manifest(100))
    assert version(cache) == "100"


def test_an_object_made_anew_replaces_the_old_one() -> None:
    cache = Cache()
    cache.put(KEY, manifest(10))
    cache.put(KEY, manifest(3, uid="u2"))
    assert version(cache) == "3"


def test_what_is_never_read_is_not_kept() -> None:
    cache = Cache()
    key = Key(DEPLOYMENT, "a", "q")
    cache.put(key, manifest(1, spec={"replicas": 2, "template": {"large": True}}))
    found = cache.get(key)
    assert found is not None
    assert found["spec"] == {"replicas": 2}
    assert "managedFields" not in found["metadata"]


def test_a_list_is_the_truth_for_what_it_covers() -> None:
    cache = Cache()
    cache.put(KEY, manifest(1))
    other = Key(QUEUE_POLICY, "b", "q")
    cache.put(other, manifest(1))
    cache.replace(QUEUE_POLICY, "a", [manifest(2, name="new")])
    assert cache.get(KEY) is None
    assert cache.get(other) is not None
    assert cache.get(Key(QUEUE_POLICY, "a", "new")) is not None
