"""Where and with what something was measured."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from promoarray import kernels

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = {"paddle": "paddlepaddle"}


def processor() -> str:
    """Name the processor, as well as the operating system lets us."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
            return names[0] if names else platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def level() -> str:
    """Name the instruction sets that count here, by NumPy's own detection."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return ", ".join(found) or "baseline only"


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float | None:
    """How many processes wanted to run in the last minute: others' work makes all of it slower."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def versions(names: Iterable[str]) -> dict[str, str]:
    """Say which versions are installed; what is not is left out."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(DISTRIBUTIONS.get(name, name))
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Name the commit of the tree, and say whether it is as committed."""
    git = ["git", "-C", str(ROOT)]
    try:
        said, state = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said.strip() + (" and changes" if state.strip() else "")


def describe(peers: Iterable[str]) -> dict[str, object]:
    """Describe the machine and what runs on it."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "cpu": processor(),
        "cores": cores(),
        "simd": level(),
        "levels": kernels.levels(),
        "load": load(),
        "versions": versions(("promoarray", "numpy", "ml_dtypes", *peers)),
    }
