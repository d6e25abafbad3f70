"""A cluster of worker processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask

MEMORY = "512MiB"
"""What a worker may take."""


@contextmanager
def running(workers: int = 2, target: float = 0.6, memory: str = MEMORY) -> Iterator[Any]:
    """Start worker processes of one thread, and give their client.

    Parameters
    ----------
    workers : int
    target : float
        The part of its memory that a worker fills before it spills to disk.
    memory : str
    """
    from distributed import Client, LocalCluster

    settings = {
        "distributed.worker.memory.target": target,
        "distributed.worker.memory.spill": 0.7,
        "distributed.worker.memory.terminate": 0.95,
        "distributed.scheduler.allowed-failures": 3,
        "logging.distributed": "error",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
