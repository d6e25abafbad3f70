"""What only real workers show: the wire, the disk, memory, a lost worker, policies, versions."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np

import promoarray as pa
from dask_proof import sums
from dask_proof.arrays import EXTENDED, blocks_of, difference, eager, lazy, random_values
from promoarray import dtypes as dt


def wire(client: Any) -> list[str]:
    """Every extended dtype from worker to worker: blocks cut anew, so that each goes both ways."""
    wrong = []
    rng = np.random.default_rng(2)
    for dtype in EXTENDED:
        values = random_values(rng, (60, 40), dtype)
        x = lazy(values, dtype, (20, 40)).persist()
        y = x._wrap(type(x._buffer)(x._buffer.array.rechunk((60, 20))), x._type)
        found = difference(eager(values, dtype), y, blocks_of(y).compute())
        wrong += [f"{dtype}: {found}"] if found else []
    return wrong


def spilled(client: Any, size: int = 1 << 20, blocks: int = 12) -> tuple[list[str], int]:
    """Every extended dtype to the workers' disks and back, and how many blocks were there.

    The client's workers have to spill early.
    """
    wrong, on_disk = [], 0
    rng = np.random.default_rng(3)
    for dtype in EXTENDED:
        values = random_values(rng, (blocks * size // dtype.storage.itemsize,), dtype)
        x = lazy(values, dtype, size // dtype.storage.itemsize).persist()
        _settled(x)
        on_disk += sum(client.run(_on_disk).values())
        found = difference(eager(values, dtype), x, blocks_of(x).compute())
        wrong += [f"{dtype}: {found}"] if found else []
    return wrong, on_disk


def _settled(x: Any) -> None:
    from distributed import wait

    wait(blocks_of(x))


def _on_disk(dask_worker: Any) -> int:
    disk = getattr(dask_worker.data, "disk", None)
    return 0 if disk is None else len(disk)


def zarr(client: Any, folder: str) -> list[str]:
    """Every extended dtype to Zarr and back, written and read by workers."""
    wrong = []
    rng = np.random.default_rng(4)
    for dtype in EXTENDED:
        values = random_values(rng, (60, 40), dtype)
        path = os.path.join(folder, f"{dtype.name}.zarr")
        pa.to_zarr(lazy(values, dtype, (25, 40)), path)
        y = pa.from_zarr(path)
        found = difference(eager(values, dtype), y, blocks_of(y).compute())
        wrong += [f"{dtype}: {found}"] if found else []
    return wrong


def memory(client: Any, gibibytes: float = 2.0) -> tuple[float, str]:
    """Peak MiB of all workers while they go through so much data, and what was wrong."""
    from distributed.diagnostics import MemorySampler

    size = int(gibibytes * 2**30) // 4
    random = da.random.default_rng(3).standard_normal(size, chunks=2 << 20, dtype="f4")
    sampler = MemorySampler()
    with pa.policy("jax"):
        x = pa.asarray(random)
        narrow = pa.astype(x * 3 + 1, dt.bfloat16)
        count = pa.sum(pa.astype(pa.astype(narrow, dt.float8_e4m3fn) > 0, dt.int32))
        largest = pa.max(narrow)
    with sampler.sample("run", interval=0.2):
        found, _ = dask.compute(blocks_of(count), blocks_of(largest))
    expected = 0.6306 * size  # 3 z + 1 > 0, of which none underflows to 0
    wrong = "" if abs(int(found) - expected) < 0.001 * size else f"counted {int(found)}"
    return max(used for _, used in sampler.samples["run"]) / 2**20, wrong


def same_sums(values: Any) -> list[bytes]:
    """The bits of ``sums.program`` from the scheduler in force."""
    with pa.policy("numpy"):
        return [np.asarray(each).tobytes() for each in dask.compute(*sums.program(values))]


def killed(client: Any, values: Any, seconds: float = 0.15) -> tuple[list[bytes], int]:
    """The same with a worker killed on the way, and how many results were held by then."""

    def slow(block: Any) -> Any:
        time.sleep(seconds)
        return block

    with pa.policy("numpy"):
        futures = client.compute(sums.program(values, slow=slow))
    while not (held := _held(client)):
        time.sleep(0.05)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    return [np.asarray(future.result(timeout=120)).tobytes() for future in futures], held


def _held(client: Any) -> int:
    return sum(len(keys) for keys in client.has_what().values())


def policy_of_client(client: Any) -> list[str]:
    """A policy that no worker has heard of."""
    mine = pa.get_policy().derive("of the client", {("int8", "bfloat16"): "float64"})
    values = np.arange(12, dtype=np.int8).reshape(3, 4)
    other = values.astype(dt.bfloat16.storage)
    with pa.policy(mine):
        want = eager(values, dt.int8) + eager(other, dt.bfloat16)
        got = lazy(values, dt.int8, (2, 2)) + lazy(other, dt.bfloat16, (2, 3))
    wrong = difference(want, got, blocks_of(got).compute())
    wrong = wrong or ("" if want.dtype is dt.float64 else f"it gives {want.dtype}")
    return [wrong] if wrong else []


def other_version(client: Any) -> list[str]:
    """Workers with another promoarray say so."""
    client.run(_call_itself, "0.0.9")
    try:
        x = lazy(np.arange(4, dtype=np.int16), dt.int16, 2) * 3
        blocks_of(x).compute()
    except RuntimeError as error:
        said = str(error)
    else:
        said = ""
    finally:
        client.run(_call_itself, pa.__version__)
    return [] if "0.0.9" in said and pa.__version__ in said else [f"workers said {said!r}"]


def _call_itself(version: str) -> None:
    import promoarray

    promoarray.__version__ = version


def labelled(wrong: list[str], limit: int = 5) -> Iterator[str]:
    """A few of what is wrong, and how many more there are."""
    yield from wrong[:limit]
    if len(wrong) > limit:
        yield f"and {len(wrong) - limit} more"
