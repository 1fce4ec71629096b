"""Fills the shop's queues: `python -m shop.enqueue 500`."""

from __future__ import annotations

import sys

from shop.jobs import app, import_catalog, send_welcome


def main(jobs: int) -> None:
    welcome = send_welcome.enqueue(1)
    print(f"{welcome.status} {welcome.jid}")
    verdicts = app.enqueue_many(import_catalog.call(account, rows=[1, 2, 3]) for account in range(jobs))
    print(f"{sum(verdict.accepted for verdict in verdicts)} of {jobs} imports accepted")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
