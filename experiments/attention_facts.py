"""What the textbooks say of attention, shown in numbers and one picture.

1. Scores saturate without the scale: entropy, largest weight and gradient of a softmax over 96
   random keys, by the width of a head, with and without the division by its root.
2. Heads against a bad start: one layer looks up two marked steps, from several random starts,
   with 1, 2, 4 and 8 heads of 32 columns in all; how many starts have learned it, and when.
3. Attention distance: how far back and forth each layer of an encoder fitted on data looks.
4. Position similarity: cosines between the places of sinusoids, and between those a
   PatchTransformer has learned.
5. The recurrent bottleneck: four steps far back are marked, and the future is what stood at them;
   error of a GRU with nothing but its last state, and with attention, by length of the past.

Run from a checkout::

    python experiments/attention_facts.py [--quick]

``--quick`` has fewer starts and steps. Fitted encoders see ETTh1, or Beijing's air without
``TSFORMER_DATA``; they have no ridge skip, which would leave them little to learn.
"""

import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from tsformer import Dataset, Policy, Training, load_dataset
from tsformer.errors import DownloadFailed
from tsformer.evaluation import store_result
from tsformer.heads import Point, Quantiles
from tsformer.models import Architecture, PatchTransformer, Recurrent, Transformer
from tsformer.nn import (
    EncoderBlock,
    FeedForward,
    FullAttention,
    MultiHeadAttention,
    recorded_weights,
    sinusoidal,
)
from tsformer.panels import Panel
from tsformer.reading import read_panel
from tsformer.training import ForecastModule, WindowDataModule, build_network, train
from tsformer.windows import Batch, Sizes

QUESTION = "Is what the textbooks say of attention so?"
SEED, CONTEXT, HORIZON = 0, 96, 24


def saturation() -> pd.DataFrame:
    """Softmax over the scores of 96 random keys, by the width of a head."""
    rows = []
    for dim in (1, 4, 16, 64, 256, 1024):
        generator = torch.Generator().manual_seed(SEED)
        q, k = (torch.randn(256, 96, dim, generator=generator) for _ in range(2))
        row: dict[str, float] = {"dim": dim}
        for name, scale in (("scaled", dim**-0.5), ("unscaled", 1.0)):
            weights = (q @ k.mT * scale).softmax(-1)
            entropy = -torch.xlogy(weights, weights).sum(-1) / math.log(96)
            row[f"{name} entropy"] = float(entropy.mean())
            row[f"{name} largest weight"] = float(weights.amax(-1).mean())
            # the diagonal of the Jacobian is w (1 - w): what is left to learn from
            row[f"{name} slope"] = float((weights * (1 - weights)).sum(-1).mean())
        rows.append(row)
    return pd.DataFrame(rows)


def looked_up(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """16 noisy steps of 4 columns, two of them marked; the answer is what both hold."""
    steps = torch.randn(rows, 16, 4, generator=generator)
    places = torch.rand(rows, 16, generator=generator).argsort(-1)[:, :2]
    marks = functional.one_hot(places, 16).float()
    return torch.cat([steps, marks.mT], dim=-1), (marks @ steps).flatten(1)


class LookUp(nn.Module):
    """One block of attention between a linear map in and one out, read at the last step."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        attention = MultiHeadAttention(32, heads, attend=FullAttention())
        self.enter, self.leave = nn.Linear(6, 32), nn.Linear(32, 8)
        self.block = EncoderBlock(attention, FeedForward(32, 64))

    def forward(self, steps: Tensor) -> Tensor:
        """The answer of each row."""
        answer: Tensor = self.leave(self.block(self.enter(steps))[:, -1])
        return answer


def start_losses(heads: int, seed: int, steps: int, every: int) -> list[float]:
    """Squared errors of one start on fresh rows, in the course of training."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = LookUp(heads)
    generator = torch.Generator().manual_seed(1000 + seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    losses, recent = [], []
    for step in range(1, steps + 1):
        given, answer = looked_up(64, generator)
        loss = functional.mse_loss(network(given), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss.item())
        if step % every == 0:
            losses.append(float(np.mean(recent)))
            recent = []
    return losses


def heads(quick: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A row for each number of heads, and the course of each start."""
    starts, steps, every = (6, 400, 50) if quick else (32, 2000, 50)
    rows, courses = [], []
    for count in (1, 2, 4, 8):
        found = np.array([start_losses(count, seed, steps, every) for seed in range(starts)])
        courses += [
            {"heads": count, "start": seed, "step": every * (at + 1), "loss": loss}
            for seed, course in enumerate(found)
            for at, loss in enumerate(course)
        ]
        learned = found < 0.1  # the answer itself has a mean square of 1
        first = np.where(learned.any(1), every * (learned.argmax(1) + 1), np.nan)
        rows.append(
            {
                "heads": count,
                "best loss": found[:, -1].min(),
                "median loss": np.median(found[:, -1]),
                "worst loss": found[:, -1].max(),
                "learned": int(learned[:, -1].sum()),
                "starts": starts,
                "median step learned": float(np.nanmedian(first)) if learned.any() else math.nan,
            }
        )
    return pd.DataFrame(rows), pd.DataFrame(courses)


def data_of() -> tuple[Dataset, Policy | None]:
    """ETTh1 where it is at hand, else Beijing's air, whose gaps are masked."""
    try:
        return load_dataset("etth1", download=False), None
    except DownloadFailed:
        return load_dataset("beijing_air"), Policy(missing="mask")


def fitted(model: Architecture, panel: Panel, quick: bool) -> tuple[ForecastModule, Batch]:
    """A module trained for a while, and a batch of validation windows."""
    data = WindowDataModule(
        panel, context=CONTEXT, horizon=HORIZON, batch_size=64, random_state=SEED
    )
    training = Training(epochs=4 if quick else 20, batch_size=64, max_time=40 if quick else None)
    network = build_network(model, data.sizes, Quantiles(), random_state=SEED)
    module = ForecastModule(network, Quantiles(), training, random_state=SEED)
    train(module, data, training)
    rows = np.linspace(0, len(data.validation) - 1, 64).astype(int)
    return module.eval(), data.validation.__getitems__(rows)


def distances(module: ForecastModule, batch: Batch) -> pd.DataFrame:
    """How many steps a query looks away, by layer and head; even weights as a measure."""
    with torch.no_grad(), recorded_weights(module.network) as weights:
        module(batch)
    rows = []
    for name, calls in weights.items():
        if not name.startswith("encoder"):
            continue
        mean = calls[0].mean(0)  # head, query, key
        places = torch.arange(mean.shape[-1])
        apart = (places[:, None] - places).abs().float()
        entropy = -torch.xlogy(calls[0], calls[0]).sum(-1).mean((0, 2)) / math.log(len(places))
        for head, distance in enumerate((mean * apart).sum(-1).mean(-1).tolist()):
            rows.append(
                {
                    "layer": int(name.split(".")[2]) + 1,
                    "head": head + 1,
                    "mean distance": distance,
                    "of even weights": float(apart.mean()),
                    "entropy": float(entropy[head]),
                }
            )
    return pd.DataFrame(rows)


def similarities(module: ForecastModule) -> tuple[pd.DataFrame, dict[str, Tensor]]:
    """Mean cosine between places by their distance, and all cosines."""
    learned = module.network.get_parameter("places").detach()
    every = {
        "sinusoids": cosines(sinusoidal(torch.arange(float(CONTEXT)), 64)),
        "learned patches": cosines(learned),
        "learned patches, mean removed": cosines(learned - learned.mean(0)),
    }
    rows = []
    for apart in (0, 1, 2, 3, 6, 12, 24, 48):
        row: dict[str, Any] = {"places apart": apart}
        for name, matrix in every.items():
            inside = apart < len(matrix)
            row[name] = float(matrix.diagonal(apart).mean()) if inside else math.nan
        rows.append(row)
    return pd.DataFrame(rows), every


def cosines(places: Tensor) -> Tensor:
    """Cosine similarity of all pairs of rows."""
    unit = functional.normalize(places, dim=-1)
    return unit @ unit.T


def recalled(context: int, rows: int, generator: torch.Generator) -> Batch:
    """Windows of random values; four steps of the first half are marked, each with its own mark.

    The future carries the same marks, known in advance, and is what stood at them.
    """
    marks = 4
    values = torch.randn(rows, context, 1, generator=generator)
    order = torch.rand(rows, context // 2, generator=generator).argsort(-1)[:, :marks, None]
    known = torch.zeros(rows, context + marks, marks)
    one_hot = torch.eye(marks).expand(rows, -1, -1)
    known[:, :context].scatter_(1, order.expand(-1, -1, marks), one_hot)
    known[:, context:] = torch.eye(marks)
    answer = values.gather(1, order)
    empty = torch.zeros(rows, context, 0)
    none = torch.zeros(rows, context + marks, 0, dtype=torch.int64)
    return Batch(
        past_target=values,
        past_observed=torch.ones_like(values, dtype=torch.bool),
        past=empty,
        past_present=empty.bool(),
        known=known,
        known_present=torch.ones_like(known, dtype=torch.bool),
        static=torch.zeros(rows, 0),
        past_codes=none[:, :context],
        known_codes=none,
        static_codes=none[:, 0],
        time=torch.arange(-context, marks, dtype=torch.float32).expand(rows, -1),
        future_target=answer,
        future_observed=torch.ones_like(answer, dtype=torch.bool),
        weight=torch.ones(rows),
        series=torch.zeros(rows, dtype=torch.int64),
        origin=torch.arange(rows),
        location=torch.zeros(rows, 1, 1),
        scale=torch.ones(rows, 1, 1),
    )


def recall_error(context: int, attention: bool, steps: int, seed: int) -> float:
    """Squared error on fresh windows; forecasting nothing has 1."""
    head = Point("squared")
    sizes = Sizes(context=context, horizon=4, target=1, known=4)
    model = Recurrent(attention=attention, skip=False, dropout=0.0)
    network = build_network(model, sizes, head, random_state=seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        loss = head.loss(*network.supervise(recalled(context, 64, generator)))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        return float(head.loss(*network.supervise(recalled(context, 1024, generator))))


def bottleneck(quick: bool) -> pd.DataFrame:
    """A row for each length of the past."""
    contexts = (8, 16, 32, 64) if quick else (8, 16, 32, 64, 128, 256)
    steps, seeds = (400, 1) if quick else (5000, 3)
    rows = []
    for context in contexts:
        row: dict[str, float] = {"context": context}
        for name, attention in (("last state", False), ("attention", True)):
            found = [recall_error(context, attention, steps, seed) for seed in range(seeds)]
            row[f"{name}, mse"] = float(np.median(found))
        rows.append(row)
        print(row, flush=True)
    return pd.DataFrame(rows)


def main(quick: bool) -> None:
    """Measure, print, draw and store."""
    began = time.monotonic()
    torch.set_num_threads(1)  # networks this small gain nothing from two
    data, policy = data_of()
    panel = read_panel(data.frame, data.schema, policy)
    by_heads, courses = heads(quick)
    looking = distances(*fitted(Transformer(encoder_layers=3, skip=False), panel, quick))
    patched, _ = fitted(PatchTransformer(patch=8, stride=4, skip=False), panel, quick)
    placed, matrices = similarities(patched)
    tables = {
        "softmax by the width of a head": saturation(),
        "heads against a bad start": by_heads,
        f"attention distance on {data.name}": looking,
        "similarity of places": placed,
        "recurrent bottleneck": bottleneck(quick),
    }
    print(QUESTION)
    for name, table in tables.items():
        print(f"\n{name}\n{table.round(3).to_string(index=False)}")
    taken = time.monotonic() - began
    path = store_result(__file__, tables, question=QUESTION, quick=quick, seconds=taken)
    draw(tables, courses, matrices, path.with_suffix(".png"))


def draw(
    tables: dict[str, pd.DataFrame], courses: pd.DataFrame, matrices: dict[str, Tensor], path: Path
) -> None:
    """Six panels, one a fact, two for places."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 8), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    soft, _, looking, _, recall = tables.values()
    for name in ("scaled", "unscaled"):
        axes[0].plot(soft["dim"], soft[f"{name} entropy"], marker="o", label=name)
    axes[0].set(xscale="log", xlabel="width of a head", ylabel="entropy, 1 is even")
    axes[0].set_title("Without the scale softmax saturates", loc="left")
    for count, color in zip((1, 2, 4, 8), ("C3", "C1", "C2", "C0"), strict=True):
        for start, course in courses[courses["heads"] == count].groupby("start"):
            label = None if start else f"{count} heads" if count > 1 else "1 head"
            axes[1].plot(course["step"], course["loss"], color=color, alpha=0.6, label=label)
    axes[1].set(xlabel="step", ylabel="squared error")
    axes[1].set_title("Look-up from different starts", loc="left")
    axes[2].scatter(looking["layer"], looking["mean distance"], label="a head")
    axes[2].axhline(looking["of even weights"].iloc[0], color="0.5", ls="--", label="even weights")
    axes[2].set(xlabel="layer", ylabel="mean distance, steps", xticks=looking["layer"].unique())
    axes[2].set_title("How far each layer looks", loc="left")
    for part, name in ((axes[3], "sinusoids"), (axes[4], "learned patches, mean removed")):
        image = part.imshow(matrices[name], cmap="RdBu_r", vmin=-1, vmax=1)
        part.set_title(f"Cosine of places: {name}", loc="left")
    figure.colorbar(image, ax=axes[4])
    for name in ("last state", "attention"):
        axes[5].plot(recall["context"], recall[f"{name}, mse"], marker="o", label=name)
    axes[5].set(xscale="log", xlabel="context", ylabel="squared error, 1 knows nothing")
    axes[5].set_title("Recall from far back: the recurrent bottleneck", loc="left")
    for part in (axes[0], axes[1], axes[2], axes[5]):
        part.grid(alpha=0.3)
        part.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
