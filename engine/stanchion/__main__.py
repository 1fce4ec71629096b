"""`python -m stanchion`: the same as the `stanchion` command."""

import sys

from stanchion.cli.main import main

sys.exit(main())
