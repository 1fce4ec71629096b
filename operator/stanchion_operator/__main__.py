"""`python -m stanchion_operator` is `stanchion-operator`."""

from stanchion_operator.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
