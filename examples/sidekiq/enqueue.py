"""Pushes a job by name for a Ruby worker: the producer needs no code of the job."""

from __future__ import annotations

import stanchion

app = stanchion.App()


def main() -> None:
    verdict = app.enqueue("ImportCatalog", [7, [1, 2, 3]], queue="imports")
    print(f"{verdict.status} {verdict.jid}")


if __name__ == "__main__":
    main()
