"""Every Redis key, made in one place, so that a cluster layout can come later.

Job data lies under Sidekiq's own names; everything else is ours, under `stanchion:`.
`docs/reference/redis.md` lists type, TTL, writer and reader of each key; a test holds that page against
this file.
"""

from __future__ import annotations

# --- Sidekiq's keys -------------------------------------------------------------------------------

QUEUES = "queues"
"""SET of bare queue names. Written by every push."""
SCHEDULE = "schedule"
"""ZSET score = run time in epoch seconds, member = payload without `enqueued_at`."""
RETRY = "retry"
"""ZSET score = next attempt in epoch seconds, member = payload with the failure fields."""
DEAD = "dead"
"""ZSET score = time of death in epoch seconds; trimmed on each insert."""
PROCESSES = "processes"
"""SET of live process identities, one per supervisor."""
PROCESS_CLEANUP = "process_cleanup"
"""STRING, TTL 60 s: whoever sets it strikes dead processes from `processes`, Ruby's or ours."""
PAUSED = "paused"
"""SET of queue names paused at run time."""
STAT_PROCESSED = "stat:processed"
"""STRING counter: every attempt, failures included."""
STAT_FAILED = "stat:failed"
"""STRING counter: every failed attempt."""
UNIQUE_DIGESTS = "uniquejobs:digests"
"""ZSET (a SET in old versions) of the sidekiq-unique-jobs gem: what it holds locks for. Only ever read."""


def queue(name: str) -> str:
    """LIST of ready payloads: pushed at the left (tail), taken at the right (head)."""
    return f"queue:{name}"


def process(identity: str) -> str:
    """HASH, TTL 60 s: the heartbeat of one supervisor, as Sidekiq's web page reads it."""
    return identity


def work(identity: str) -> str:
    """HASH, TTL 60 s: slot -> JSON of the running job, as Sidekiq writes and reads it from 6.4.2 on."""
    return f"{identity}:work"


def work_of_sidekiq_6(identity: str) -> str:
    """HASH, TTL 60 s: what `work` is, under the name that Sidekiq up to 6.4.1 writes and reads."""
    return f"{identity}:workers"


def signals(identity: str) -> str:
    """LIST, TTL 60 s: signal names pushed by Sidekiq's web page."""
    return f"{identity}-signals"


def stat_day(name: str, day: str) -> str:
    """STRING, TTL 5 years: `stat:processed:YYYY-MM-DD` or `stat:failed:…`, UTC day."""
    return f"stat:{name}:{day}"


def executions(day: str, time: str) -> str:
    """HASH, TTL 8 h (of ten minutes: 72 h): `<job>|p`, `|f`, `|ms` of one minute, for Sidekiq's metrics."""
    return f"j|{day}|{time}"


def histogram(job_name: str, time: str) -> str:
    """STRING of 26 × 16 bits, TTL 8 h: how long one job's successes of one minute took, for Sidekiq 8."""
    return f"h|{job_name}-{time}"


def histogram_of_sidekiq_7(job_name: str, time: str) -> str:
    """STRING, TTL 8 h: what `histogram` is, under the name that Sidekiq 6.5 and 7 have for it."""
    return f"{job_name}-{time}"


# --- Ours: enqueue ---------------------------------------------------------------------------------


def lane(nonce: str) -> str:
    """STRING, TTL 1 h: the last call of one client lane and its verdict, so that a repeat is answered."""
    return f"stanchion:lane:{nonce}"


def remembered_jid(jid: str) -> str:
    """STRING, TTL stated by the client: the first verdict for a caller's explicit `jid=`."""
    return f"stanchion:jid:{jid}"


def counters(queue_name: str) -> str:
    """HASH of monotone counters, read by the autoscaler: enq, eligible_enq, done (attempts that ended, the
    failed ones included), failed, busy_ms.
    """
    return f"stanchion:counters:{queue_name}"


def runtime(job_name: str) -> str:
    """HASH: n, ms and b0…b25, the runtime histogram of one job over Sidekiq's 26 bucket limits."""
    return f"stanchion:runtime:{job_name}"


# --- Ours: worker ----------------------------------------------------------------------------------

BEATS = "stanchion:beats"
"""HASH process identity -> beat counter. Observers compare it with their own earlier reading."""
RECOVERIES = "stanchion:recoveries"
"""HASH jid -> how often the job came back from a dead process, kept outside the payload."""
PAUSE_CHANNEL = "stanchion:pause"
"""Pub/sub channel: the name of a queue whose membership in `paused` changed."""
CANCEL_CHANNEL = "stanchion:cancel"
"""Pub/sub channel: the id of a job that whoever runs it should end early."""
PERIODIC = "stanchion:periodic"
"""HASH entry -> declaration (JSON) of a periodic job: job, queue, cron line, time zone, when it was seen."""
PERIODIC_TICKS = "stanchion:periodic:ticks"
"""HASH entry -> its last tick that is done with, epoch seconds: what makes every tick be enqueued once."""
SCHEDULER_LEADER = "stanchion:scheduler"
"""STRING, TTL 1 s: identity of the process that promotes due jobs."""


def periodic_leader(digest: str) -> str:
    """STRING, TTL 3 s: identity of the process that enqueues the periodic jobs of one application."""
    return f"stanchion:periodic:leader:{digest}"


def members(identity: str) -> str:
    """HASH incarnation -> its queues (JSON): whom to recover when this process dies."""
    return f"stanchion:members:{identity}"


def trip(incarnation: str) -> str:
    """STRING: registration, last trip number and stored answers of one incarnation; `dead` = fenced."""
    return f"stanchion:trip:{incarnation}"


def lease(incarnation: str) -> str:
    """HASH token (`number.i`) -> `queue|fetched_at_ms|payload` of the jobs in this incarnation's hands."""
    return f"stanchion:lease:{incarnation}"


def consumers(queue_name: str) -> str:
    """SET of incarnations that serve a queue. Written at registration and retirement, counted by trips."""
    return f"stanchion:consumers:{queue_name}"


def inbox(incarnation: str, queue_name: str) -> str:
    """LIST: where a blocked wait moves a job; part of the lease, emptied by the next trip."""
    return f"stanchion:inbox:{incarnation}:{queue_name}"


# --- Ours: configuration ---------------------------------------------------------------------------

CONFIG_INDEX = "stanchion:config:index"
"""HASH `<kind>/<name>` -> `<spec digest>:<owner uid>`: what a reader must read again."""
CONFIG_EPOCH = "stanchion:config:epoch"
"""STRING counter and nonce, changed with every change of any config hash."""
CONFIG_FENCE = "stanchion:config:fence"
"""HASH managedBy -> highest leaseTransitions seen: a deposed leader's writes are stale."""
CONFIG_CHANNEL = "stanchion:config"
"""Pub/sub channel: the new epoch."""


def config(kind: str, name: str) -> str:
    """HASH: one declared policy. Kind is queue, lock or budget; name a queue or `namespace/name`."""
    return f"stanchion:config:{kind}:{name}"


# --- Ours: the demo's ledger (in its own throw-away Redis) -----------------------------------------


def demo_pushed(queue_name: str) -> str:
    """SET of the jids that the demo pushed to a queue."""
    return f"stanchion:demo:pushed:{queue_name}"


def demo_ran(queue_name: str) -> str:
    """HASH jid -> how often that job ran to its end."""
    return f"stanchion:demo:ran:{queue_name}"
