"""What `import promoarray` loads, and what it leaves until it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import promoarray as pa

LATER = (
    *("dataclasses", "difflib", "rich", "textwrap", "threading"),
    *("promoarray.backends.numpy.code_tables", "promoarray.backends.numpy.variants"),
    *("promoarray.core.call_site", "promoarray.kernels.portable", "promoarray.other_names"),
    *("promoarray.console", "promoarray.core.display", "promoarray.core.proposed_casts"),
    *("promoarray.diagnostics", "promoarray.io", "promoarray.linalg", "promoarray.namespaces"),
    *("promoarray.functions.ranges", "promoarray.functions.sets", "promoarray.policies.torch"),
)
SCRIPT = """
import sys
import numpy, ml_dtypes
before = {*sys.modules}
import promoarray as pa
x = pa.zeros(4)
pa.reshape(x, (2, 2)), pa.sort(x), x + x
print(*sys.modules.keys() - before)
"""


def test_no_array_and_no_operator_loads_what_it_does_not_need() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert sorted({*LATER} & {*run.stdout.split()}) == []


def test_every_name_of_a_chapter_is_on_the_main_module() -> None:
    chapters = Path(pa.__file__).parent.joinpath("functions").glob("[a-z]*.py")
    missing = [
        f"{path.stem}.{name}"
        for path in chapters
        for name in getattr(pa, path.stem).__all__
        if name not in pa.__all__ or getattr(pa, name) is not getattr(getattr(pa, path.stem), name)
    ]
    assert missing == []


def test_every_name_is_there_and_listed() -> None:
    assert len(pa.__all__) == len({*pa.__all__})
    assert {name for name in pa.__all__ if not hasattr(pa, name)} == set()
    assert {*pa.__all__} <= {*dir(pa)}
