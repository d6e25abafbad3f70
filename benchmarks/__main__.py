"""``python -m benchmarks``: see command.py."""

from __future__ import annotations

import sys
from pathlib import Path

# The tree's own promoarray would hide the installed one, which is what is measured.
sys.path[0] = str(Path(__file__).resolve().parent)

from command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
