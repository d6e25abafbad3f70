"""What `import promoarray` loads, and what it leaves until it is asked for."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import promoarray as pa

LATER = (
    *("array_api_compat", "array_api_extra", "cupy", "dask", "difflib", "jinja2", "libcst", "onnx"),
    *("rich", "scipy", "torch", "promoarray.console", "promoarray.diagnostics", "promoarray.io"),
    *("promoarray.extras", "promoarray.fft", "promoarray.linalg", "promoarray.namespaces"),
    *("promoarray.numpy_api", "promoarray.testing", "promoarray.policies.torch"),
)
"""What is optional, or loaded when it is first asked for."""
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


def test_docstrings_are_there_for_who_asks() -> None:
    assert inspect.getdoc(pa.PArray.sum) == (
        "Sum elements.\n\nAs ``promoarray.sum``; arguments are NumPy's."
    )


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


FIRST_USES = """
import sys, threading
import promoarray as pa
sys.setswitchinterval(1e-6)
x, short = pa.ones((4, 4), dtype="float32"), pa.asarray([1.5, 2.5])
uses = [
    lambda: x.sum(), lambda: pa.mean(x), lambda: pa.clip(x, 0, 1), lambda: pa.flip(x),
    lambda: pa.searchsorted(short, short), lambda: x @ x, lambda: x.imag, lambda: pa.argmax(x),
    lambda: pa.tensordot(x, x), lambda: pa.exp(pa.ones(3, dtype=pa.bfloat16)),
]
together, raised = threading.Barrier(len(uses)), []
def work(first):
    together.wait()
    try:
        for use in uses[first:] + uses[:first]:
            use()
    except Exception as error:
        raised.append(error)
threads = [threading.Thread(target=work, args=(n,)) for n in range(len(uses))]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(raised)
"""


def test_threads_may_load_at_once_what_is_loaded_later() -> None:
    command = [sys.executable, "-P", "-c", FIRST_USES]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
