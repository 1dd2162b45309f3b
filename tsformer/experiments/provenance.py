"""Where a number comes from: versions, commit, machine, threads, memory."""

import contextlib
import datetime
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tsformer.evaluation.experiment import versions

__all__ = ["machine_text", "peak_memory", "provenance"]

_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Of a processor: those that decide how fast products of matrices are."""


def provenance() -> dict[str, Any]:
    """Versions, commit, machine, threads and moment, as plain JSON."""
    return {
        "versions": versions(),
        "commit": _commit(),
        "machine": _machine(),
        "threads": torch.get_num_threads(),
        "process": os.getpid(),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def machine_text(found: Mapping[str, Any]) -> str:
    """Machine, threads and versions of a provenance in one line."""
    machine, of = found["machine"], found["versions"]
    flags = ", ".join(machine["flags"]) or "none that are looked for"
    return (
        f"{machine['processor']}, {machine['cores']} cores, threads: {found['threads']}, flags:"
        f" {flags}; torch {of['torch']}, Python {of['python']}"
    )


@cache
def _commit() -> str | None:
    """The commit of the checkout that tsformer stands in; ``+`` behind it says it was changed."""
    try:
        commit, changed = _git("rev-parse", "HEAD"), _git("status", "-s", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}+" if changed else commit


def _git(*words: str) -> str:
    asked = ["git", "-C", str(Path(__file__).parent), *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


@cache
def _machine() -> dict[str, Any]:
    name, flags = platform.processor() or platform.machine(), ""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            name = value.strip() if key.strip() == "model name" else name
            flags = value if key.strip() == "flags" else flags
    facts = {"system": platform.system(), "processor": name, "cores": os.cpu_count()}
    return {**facts, "flags": [flag for flag in _FLAGS if flag in flags.split()]}


@contextlib.contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """The most memory this process held meanwhile, ``{"MiB": ...}``; empty where it can't be told.

    Examples
    --------
    >>> with peak_memory() as peak:
    ...     held = bytearray(1 << 20)
    >>> peak.get("MiB", 1.0) >= 1
    True
    """
    found: dict[str, float] = {}
    reset = Path("/proc/self/clear_refs")
    try:
        reset.write_text("5")  # the peak becomes what is held now
    except OSError:
        yield found
        return
    yield found
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            found["MiB"] = round(int(line.split()[1]) / 1024, 1)
