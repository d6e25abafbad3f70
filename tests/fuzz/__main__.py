"""Run the generators, each in a process of its own.

    python tests/fuzz                            all of them, a minute each
    python tests/fuzz layouts --minutes 60       one of them, for an hour
    python tests/fuzz layouts --again 8127       the iteration of one seed, in this process

Exit status 1 if an iteration failed, crashed or took no end; its seed is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from fuzz import session  # noqa: E402


def main() -> int:
    """Run what is asked for; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = session.generators()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--minutes", type=float, default=1.0, help="for each (default: 1)")
    parser.add_argument("--most", type=int, default=1 << 40, help="iterations of each")
    parser.add_argument("--seed", type=int, help="the first seed (default: from the clock)")
    parser.add_argument("--again", type=int, metavar="SEED", help="one iteration, in this process")
    options = parser.parse_args()
    if unknown := sorted({*options.names} - {*names}):
        parser.error(f"no generator {', '.join(unknown)}; there are {', '.join(names)}")
    if options.again is not None:
        for name in options.names or names:
            session.once(name, options.again)
        return 0
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    failed = False
    for name in options.names or names:
        found = session.run(name, 60 * options.minutes, seed, most=options.most)
        print(f"{name}: {found.iterations} iterations from seed {seed}", flush=True)
        if found.seed is not None:
            failed = True
            print(f"{found.why}\nagain: python tests/fuzz {name} --again {found.seed}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
