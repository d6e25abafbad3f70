"""What promoarray adds to one operation, and to starting Python: two chapters by themselves.

Run ``python benchmarks/overhead.py``; it takes what ``python -m benchmarks`` takes.
"""

from __future__ import annotations

import sys

from command import main

if __name__ == "__main__":
    sys.exit(main(["--chapter", "dispatch,start", *sys.argv[1:]]))
