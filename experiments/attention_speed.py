"""Whether ProbSparse attention is faster than exact attention, from which length on, and how good.

Forward and backward of one attention call, float32, 8 heads of 64, ``max(1, 5760 // length)``
sequences, on two threads. Exact attention is torch's fused kernel through ``full_attention``. Times
are medians of repeats that take turns, so that a busy machine slows all alike; ratios within one
run are what counts. Extra memory is the growth of the peak of a fresh process. Where neuralforecast
is installed (the ``peers`` extra), its ProbAttention runs in turn with ours. Run from a checkout::

    OMP_WAIT_POLICY=PASSIVE python experiments/attention_speed.py [--quick]

``--quick`` stops at a length of 1,440.
"""

import math
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median

import pandas as pd
import torch
from torch import Tensor, nn

from tsformer import Forecaster, Policy, Training, load_dataset
from tsformer.errors import DownloadFailed
from tsformer.evaluation import store_result
from tsformer.models import Transformer
from tsformer.nn import full_attention, prob_sparse_attention

QUESTION = "Is ProbSparse attention faster than exact attention, and how good is it?"
LENGTHS = (48, 96, 192, 336, 720, 1440, 2880, 5760, 11520)
HEADS, DIM, TOKENS = 8, 64, 5760
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def inputs(length: int, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries, keys and values that want gradients."""
    generator = torch.Generator().manual_seed(seed)
    shape = (max(1, TOKENS // length), HEADS, length, DIM)
    q, k, v = (torch.randn(shape, generator=generator).requires_grad_() for _ in range(3))
    return q, k, v


def unfused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Exact attention with the whole matrix of weights, as most public code has it."""
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def per_query(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """ProbSparse with a key sample for each query, gathered."""
    return prob_sparse_attention(q, k, v, sampling="per_query", exact_below=0)


WAYS: dict[str, Attend] = {
    "exact": full_attention,
    "ProbSparse": prob_sparse_attention,
    "ProbSparse per query": per_query,
    "unfused": unfused,
}


def peer() -> Attend | None:
    """Attention of the Informer in neuralforecast, if it is installed."""
    try:
        from neuralforecast.models.informer import ProbAttention
    except ImportError:
        return None
    attend = ProbAttention(mask_flag=False, factor=5, attention_dropout=0.0)

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # its axes are (batch, time, head, dim)
        answer: Tensor = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), None)[0]
        return answer

    return call


def recurrent_seconds(length: int) -> float:
    """Forward and backward of a GRU of the same width, the layer that attention replaced."""
    layer = nn.GRU(HEADS * DIM, HEADS * DIM, batch_first=True)
    steps = torch.randn(max(1, TOKENS // length), length, HEADS * DIM, requires_grad=True)
    began = time.perf_counter()
    layer(steps)[0].sum().backward()
    return time.perf_counter() - began


def seconds(attend: Attend, given: tuple[Tensor, Tensor, Tensor]) -> float:
    """Of one forward and backward pass."""
    for tensor in given:
        tensor.grad = None
    began = time.perf_counter()
    attend(*given).sum().backward()
    return time.perf_counter() - began


def timed(length: int, ways: dict[str, Attend], repeats: int) -> dict[str, float]:
    """Median milliseconds of each way; the ways take turns."""
    given = inputs(length)
    found: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(repeats + 1):
        for name, attend in ways.items():
            taken = seconds(attend, given)
            if repeat:  # the first one warms up
                found[name].append(1000 * taken)
    return {name: median(times) for name, times in found.items()}


def peak_megabytes(name: str, length: int) -> float:
    """How far one pass raises the peak memory of a fresh process."""
    if sys.platform != "linux":
        return math.nan
    call = [sys.executable, __file__, "--peak", name, str(length)]
    return float(subprocess.run(call, capture_output=True, text=True, check=True).stdout)


def print_peak(name: str, length: int) -> None:
    """In the fresh process: warm the kernels up on a short sequence, then measure."""
    attend = WAYS[name]
    seconds(attend, inputs(96))
    given = inputs(length)
    for tensor in given:
        tensor.grad = torch.zeros_like(tensor)  # gradients are the caller's memory, not extra
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is that of the imports
    before = resident("VmRSS")
    attend(*given).sum().backward()
    print(resident("VmHWM") - before)


def resident(field: str) -> float:
    """Memory of this process in megabytes: now (VmRSS), or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def speed(lengths: tuple[int, ...]) -> pd.DataFrame:
    """One row a length: milliseconds, ratios and extra memory."""
    rows = []
    other = peer()
    for length in lengths:
        ways = {name: way for name, way in WAYS.items() if name != "unfused" or length <= 2880}
        if other is not None:
            ways["neuralforecast"] = other
        took = timed(length, ways, repeats=15 if length <= 1440 else 7)
        row: dict[str, float] = {"length": length}
        row |= {f"{name} ms": value for name, value in took.items()}
        row["exact / ProbSparse"] = took["exact"] / took["ProbSparse"]
        if "neuralforecast" in took:
            row["neuralforecast / ProbSparse"] = took["neuralforecast"] / took["ProbSparse"]
        row["GRU ms"] = 1000 * median(recurrent_seconds(length) for _ in range(3))
        for name in ("exact", "ProbSparse", *(["unfused"] if length <= 2880 else [])):
            row[f"{name} MB"] = peak_megabytes(name, length)
        rows.append(row)
        print(pd.DataFrame([row]).round(2).to_string(index=False), flush=True)
    return pd.DataFrame(rows)


def trained(length: int, max_time: float) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values in the last encoder layer of a Transformer trained on ETTh1.

    Without ``TSFORMER_DATA``, on Beijing's air. It attends exactly and has no skip to lean on.
    """
    try:
        data = load_dataset("etth1", download=False)
    except DownloadFailed:
        data = load_dataset("beijing_air")
    model = Transformer(d_model=128, n_heads=4, d_ff=256, skip=False)
    forecaster = Forecaster(
        model,
        horizon=96,
        context=length,
        schema=data.schema,
        policy=Policy(missing="mask"),
        training=Training(epochs=5, max_time=max_time, validation=480),
    ).fit(data.frame.iloc[:11520])
    seen: list[tuple[Tensor, Tensor, Tensor]] = []
    layers = [one for one in forecaster.network_.encoder.modules() if hasattr(one, "attend")]
    layers[-1].attend.register_forward_pre_hook(lambda _, given: seen.append(given[:3]))
    for end in range(8000, 11520, 500):  # several windows, at several hours
        forecaster.predict(data.frame.iloc[:end])
    q, k, v = (torch.cat(tensors).detach() for tensors in zip(*seen, strict=True))
    return q, k, v


def queries(kind: str, length: int, max_time: float) -> tuple[Tensor, Tensor, Tensor]:
    """Random; such as look for a few keys in a quarter of the sequence; or of a trained layer."""
    if kind == "trained":
        return trained(length, max_time)
    q, k, v = (tensor.detach() for tensor in inputs(length, seed=1))
    if kind == "sharp":
        wanted = k[:, :, torch.arange(length) * 7 % length]
        seeks = (torch.arange(length) % 4 == 0)[None, None, :, None]
        q = torch.where(seeks, 2 * wanted, 0.3 * q)
    return q, k, v


def quality(lengths: tuple[int, ...], max_time: float) -> pd.DataFrame:
    """Error of the output, and the share of the truly sharpest queries that were found."""
    rows = []
    for length, kind in product(lengths, ("random", "sharp", "trained")):
        q, k, v = queries(kind, length, max_time)
        exact = full_attention(q, k, v)
        mean = v.mean(-2, keepdim=True)
        for sampling in ("evaluation", "shared", "per query"):
            answer = prob_sparse_attention(
                q,
                k,
                v,
                sampling="per_query" if sampling == "per query" else "shared",
                generator=None if sampling == "evaluation" else torch.Generator().manual_seed(0),
                exact_below=0,
            )
            rows.append(
                {
                    "length": length,
                    "queries": kind,
                    "sample": sampling,
                    "relative error": float((answer - exact).norm() / exact.norm()),
                    "error of the mean": float((mean - exact).norm() / exact.norm()),
                    "recall of the sharpest": recall(q, k, answer, v),
                }
            )
    return pd.DataFrame(rows)


def recall(q: Tensor, k: Tensor, answer: Tensor, v: Tensor) -> float:
    """Share of the truly sharpest queries (over all keys) among those computed in full."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    sharpness = scores.amax(-1) - scores.mean(-1)
    active = (answer - v.mean(-2, keepdim=True)).abs().amax(-1) > 1e-6
    count = int(active.sum(-1).max())
    sharpest = torch.zeros_like(active).scatter(-1, sharpness.topk(count).indices, True)
    return float((active & sharpest).sum() / sharpest.sum())


def main(quick: bool) -> None:
    """Measure, print, draw and store."""
    began = time.monotonic()
    torch.set_num_threads(2)
    lengths = tuple(length for length in LENGTHS if not quick or length <= 1440)
    fast = speed(lengths)
    good = quality((336, 1440), max_time=30 if quick else 90)
    print(f"\n{QUESTION}\n\n{fast.round(2).to_string(index=False)}\n")
    print(good.round(3).to_string(index=False))
    tables = {"speed and memory": fast, "quality": good}
    taken = time.monotonic() - began
    path = store_result(__file__, tables, question=QUESTION, quick=quick, seconds=taken)
    draw(fast, path.with_suffix(".png"))


def draw(table: pd.DataFrame, path: Path) -> None:
    """Time by length, both on log scales."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for column in [name for name in table if name.endswith(" ms")]:
        axes.plot(table["length"], table[column], marker="o", label=column.removesuffix(" ms"))
    axes.set(xscale="log", yscale="log", xlabel="length", ylabel="ms, forward and backward")
    axes.set_title("Time of one attention call by length", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    if "--peak" in sys.argv:
        print_peak(sys.argv[2], int(sys.argv[3]))
    else:
        main(quick="--quick" in sys.argv[1:])
