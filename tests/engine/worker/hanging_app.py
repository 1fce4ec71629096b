"""An application whose import hangs while the file named by `TEST_HANG_FILE` exists."""

from __future__ import annotations

import os
import time
from pathlib import Path

import stanchion

app = stanchion.App()

hang_file = Path(os.environ["TEST_HANG_FILE"])
if hang_file.exists():
    hang_file.with_suffix(".seen").touch()
    time.sleep(3600)  # what it is for: the import never ends
