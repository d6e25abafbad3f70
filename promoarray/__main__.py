"""``python -m promoarray``: the command line."""

import sys

from promoarray.cli import main

if __name__ == "__main__":
    sys.exit(main())
