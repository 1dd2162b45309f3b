"""How long one training step takes beside neuralforecast's, and where the time goes.

Informer and Transformer: d_model 512, 8 heads, d_ff 2,048, 2 encoder and 1 decoder layers, context
96, horizon 96, 32 windows of 7 variables. PatchTransformer: d_model 128, 3 layers, 16 heads, d_ff
256, patches of 16 every 8, context 512, horizon 96, 32 windows of 7 variables. A step is loss,
gradients, clipping and AdamW, on each side as its library makes it: ours is fused on a CPU, theirs
is not. Ours also scales the windows. neuralforecast's networks are univariate: 32 windows go
through its Informer and VanillaTransformer, and 7 x 32 through its PatchTST, since ours forecasts
each variable by itself too. Dropout is the same on both sides.

Three precisions: float32; bf16 (``torch.autocast``); and medium, torch's
``set_float32_matmul_precision``. All ways take turns and medians are shown, so that a busy machine
slows all alike; ratios within one run are what counts, and those of processor time (all threads)
suffer least. The second table is a profile: each operation's own share of a step. Without
neuralforecast (the ``peers`` extra) ours is timed alone. Run from a checkout::

    OMP_WAIT_POLICY=PASSIVE python experiments/training_speed.py [--quick]

``--quick`` repeats each step 4 times rather than 15.
"""

import logging
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from tsformer.evaluation import store_result
from tsformer.heads import Point
from tsformer.models import Architecture, Informer, PatchTransformer, Transformer
from tsformer.reading import read_panel
from tsformer.training import ForecastModule, build_network
from tsformer.windows import WindowDataset, window_loader

QUESTION = "How long is a training step beside neuralforecast's, and where does the time go?"
HORIZON, WINDOWS, VARIABLES = 96, 32, 7
PRECISIONS = ("float32", "bf16", "medium")
OPERATIONS = 12  # shown of a profile
LARGE: dict[str, Any] = {"d_model": 512, "n_heads": 8, "d_ff": 2048, "dropout": 0.05}
MODELS: dict[str, tuple[Architecture, int]] = {
    "Informer": (Informer(**LARGE, encoder_layers=2, decoder_layers=1, skip=False), 96),
    "Transformer": (Transformer(**LARGE, encoder_layers=2, decoder_layers=1, skip=False), 96),
    "PatchTransformer": (
        PatchTransformer(
            d_model=128, n_heads=16, d_ff=256, encoder_layers=3, dropout=0.2, skip=False
        ),
        512,
    ),
}
PEERS = {
    "Informer": "Informer",
    "Transformer": "VanillaTransformer",
    "PatchTransformer": "PatchTST",
}
Step = Callable[[], None]


def windows_of(context: int, horizon: int) -> WindowDataset:
    """Windows of 7 random walks, hourly, with their calendar features."""
    walks = np.random.default_rng(0).normal(size=(20_000, VARIABLES)).cumsum(axis=0)
    frame = pd.DataFrame(walks, columns=[f"y{number}" for number in range(VARIABLES)])
    frame.index = pd.date_range("2020-01-01", periods=len(frame), freq="h")
    return WindowDataset(read_panel(frame), context=context, horizon=horizon)


def network_of(name: str) -> nn.Module:
    """Our network."""
    model, context = MODELS[name]
    sizes = windows_of(context, HORIZON).sizes
    return build_network(model, sizes, Point(), random_state=0)


def our_step(name: str) -> Step:
    """One training step of ours, as Lightning runs it, without Lightning."""
    windows = windows_of(MODELS[name][1], HORIZON)
    batch = windows.__getitems__(range(0, 100 * WINDOWS, 100))
    network = network_of(name)
    module = ForecastModule(network, Point())
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        module.training_step(batch, 0).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()

    return step


def peer_network(name: str) -> nn.Module | None:
    """The network of neuralforecast, if it is installed."""
    logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
    try:
        from neuralforecast import models
    except ImportError:
        return None
    given: dict[str, Any] = {"h": HORIZON, "input_size": MODELS[name][1]}
    if name == "PatchTransformer":
        return models.PatchTST(  # its own defaults are the sizes asked for
            **given, hidden_size=128, n_heads=16, encoder_layers=3, linear_hidden_size=256
        )
    return getattr(models, PEERS[name])(
        **given,
        hidden_size=512,
        n_head=8,
        conv_hidden_size=2048,
        encoder_layers=2,
        decoder_layers=1,
        dropout=0.05,
    )


def peer_step(name: str) -> Step | None:
    """One training step of neuralforecast's network under the same loss and optimizer."""
    network = peer_network(name)
    if network is None:
        return None
    rows = WINDOWS * (VARIABLES if name == "PatchTransformer" else 1)
    generator = torch.Generator().manual_seed(0)
    past = torch.randn(rows, MODELS[name][1], 1, generator=generator)
    future = torch.randn(rows, HORIZON, 1, generator=generator)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        forecast: Tensor = network({"insample_y": past, "futr_exog": None})
        (forecast - future).abs().mean().backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()

    return step


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Run a block at this precision."""
    torch.set_float32_matmul_precision("medium" if name == "medium" else "highest")
    try:
        with torch.autocast("cpu", torch.bfloat16, enabled=name == "bf16"):
            yield
    finally:
        torch.set_float32_matmul_precision("highest")


def rounds(steps: dict[str, Step], repeats: int) -> pd.DataFrame:
    """Wall and processor milliseconds of every step; sides and precisions take turns."""
    found = []
    for repeat in range(repeats + 1):
        for kind in PRECISIONS:
            for side, step in steps.items():
                with precision(kind):
                    wall, cpu = time.perf_counter(), time.process_time()
                    step()
                    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                if repeat:  # the first one warms up
                    found.append((side, kind, 1000 * wall, 1000 * cpu))
    return pd.DataFrame(found, columns=["side", "precision", "ms", "cpu ms"])


def loader_milliseconds(name: str) -> float:
    """Median milliseconds to load one shuffled batch."""
    loader = window_loader(
        windows_of(MODELS[name][1], HORIZON), batch_size=WINDOWS, shuffle=True, seed=0
    )
    times, began = [], time.perf_counter()
    for _ in loader:
        times.append(1000 * (time.perf_counter() - began))
        began = time.perf_counter()
    return median(times)


def row(name: str, repeats: int) -> dict[str, Any]:
    """Everything that is measured of one model."""
    steps = {"tsformer": our_step(name)}
    other = peer_step(name)
    if other is not None:
        steps["neuralforecast"] = other
    took = rounds(steps, repeats).groupby(["side", "precision"]).median()
    found: dict[str, Any] = {"model": name, "peer": PEERS[name] if other else None}
    for column in took:
        for side in steps:
            times = {kind: float(took.loc[(side, kind), column]) for kind in PRECISIONS}
            found |= {f"{side} {kind} {column}": value for kind, value in times.items()}
            found[f"{side} best {column}"] = min(times.values())
            found[f"{side} best precision, {column}"] = min(times, key=times.__getitem__)
        if other is not None:
            for kind in ("float32", "best"):
                ours, theirs = (found[f"{side} {kind} {column}"] for side in steps)
                found[f"ratio {kind}, {column}"] = theirs / ours
    load = loader_milliseconds(name)
    found |= {"loader ms": load, "loader % of best step": 100 * load / found["tsformer best ms"]}
    for side in steps:
        found[f"{side} peak MB"] = peak_megabytes(side, name)
    found["parameters"] = count(network_of(name))
    found["peer parameters"] = count(peer_network(name)) if other else None
    return found


def count(network: nn.Module | None) -> int:
    """Weights that are trained."""
    assert network is not None
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)


def peak_megabytes(side: str, name: str) -> float:
    """How far two float32 steps raise the peak memory of a fresh process."""
    if sys.platform != "linux":
        return math.nan
    call = [sys.executable, __file__, "--peak", side, name]
    answer = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    return float(answer.split()[-1])


def print_peak(side: str, name: str) -> None:
    """In the fresh process: network and batch exist; gradients and optimizer state count."""
    torch.set_num_threads(2)
    step = our_step(name) if side == "tsformer" else peer_step(name)
    assert step is not None
    before = peak_so_far()
    step()
    step()
    print(resident("VmHWM") - before)


def peak_so_far() -> float:
    """Forget the peak so far; megabytes in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def resident(field: str) -> float:
    """Memory of this process in megabytes: now (VmRSS), or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def profile(name: str, kind: str, side: str) -> list[dict[str, Any]]:
    """The operations that take most of the time of three steps, most first."""
    step = our_step(name) if side == "tsformer" else peer_step(name)
    if step is None:
        return []
    with precision(kind):
        step()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
            for _ in range(3):
                step()
    spent = [(event.self_cpu_time_total, event.count, event.key) for event in seen.key_averages()]
    total = sum(time for time, _, _ in spent)
    return [
        {
            "model": name,
            "side": side,
            "precision": kind,
            "operation": key,
            "% of step": round(100 * time / total, 1),
            "ms a step": round(time / 3000, 1),
            "calls a step": count // 3,
        }
        for time, count, key in sorted(spent, reverse=True)[:OPERATIONS]
    ]


def features() -> str:
    """What the CPU has that matters here, as far as torch and Linux tell."""
    known = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return torch.backends.cpu.get_cpu_capability()
    return ", ".join(f"{name}: {'yes' if f' {name} ' in flags else 'no'}" for name in known)


def peer_version() -> str | None:
    """The version of neuralforecast, None without it."""
    try:
        return version("neuralforecast")
    except PackageNotFoundError:
        return None


def main(quick: bool) -> None:
    """Measure, print and store."""
    began = time.monotonic()
    warnings.simplefilter("ignore")  # of Lightning, about modules without a trainer
    torch.set_num_threads(2)
    rows = []
    for name in MODELS:
        rows.append(row(name, repeats=4 if quick else 15))
        print(pd.Series(rows[-1]).to_string(), flush=True)
    steps = pd.DataFrame(rows)
    operations = pd.DataFrame(
        entry
        for name in MODELS
        for side in ("tsformer", "neuralforecast")
        for kind in ("float32", "bf16")
        for entry in profile(name, kind, side)
    )
    print(f"\n{QUESTION}\n\n{steps.set_index('model').T.to_string()}\n")
    print(operations.to_string(index=False))
    store_result(
        __file__,
        {"steps": steps, "operations": operations},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        facts={"cpu": features(), "neuralforecast": peer_version()},
    )


if __name__ == "__main__":
    if "--peak" in sys.argv:
        print_peak(sys.argv[2], sys.argv[3])
    else:
        main(quick="--quick" in sys.argv[1:])
