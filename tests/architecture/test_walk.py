"""How far it is from a frame to a batch, counted while a forecaster is fitted.

A *border* is a pair of files of the package, the first of which has a function that calls one of
the second directly; each pair counts once, however often it is crossed. What Lightning, torch or
pandas call on our behalf is no direct call. Lambdas and generators are parts of the functions that
they stand in, and the methods that ``dataclass`` writes stand in no file: neither is counted. The
walk begins with ``Forecaster(Linear(), horizon=7).fit(frame)`` on 120 daily rows and ends when the
first ``Batch`` is made; the network is built on the way, since its linear skip asks for the batch.
So counted, the walk crossed 66 borders while all that reads frames stood in one room.

A *wrapper* is a class of ours of which some function holds an instance while ``read_panel`` runs,
in a local variable, an argument or what it returns; except for the panel, the values that it keeps
(index, columns, schema, layout, policy), and the schema that the caller has given.
"""

import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tsformer
import tsformer.training  # loaded before the walk: importing is no step of it
from tsformer import Forecaster
from tsformer.models import Linear
from tsformer.panels import Panel, Policy, ResolvedSchema, Schema
from tsformer.panels.columns import Columns
from tsformer.panels.index import PanelIndex
from tsformer.panels.layout import Layout
from tsformer.reading import read_panel
from tsformer.windows import Batch

PACKAGE = Path(tsformer.__file__).resolve().parent
# Neither may grow; both are to shrink: see docs/decisions/0022-the-walk.md
MOST_BORDERS = 77
MOST_BORDERS_OF_READING = 35
MOST_WRAPPERS = 6
READING = {"time", "panels", "reading"}
KEPT = {Panel, PanelIndex, Columns, Schema, ResolvedSchema, Layout, Policy}


class Arrived(BaseException):
    """The first batch is there."""


@cache
def place(name: str) -> str | None:
    """The path of a file within the package; None outside of it."""
    path = Path(name)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def file_of(frame: FrameType | None) -> str | None:
    """The file of the package that the code of a frame stands in."""
    return None if frame is None else place(frame.f_code.co_filename)


def is_part(frame: FrameType) -> bool:
    """Whether the code belongs to the function around it."""
    generates = frame.f_code.co_flags & inspect.CO_GENERATOR
    return bool(generates) or frame.f_code.co_name == "<lambda>"


def watched(watch: Callable[[FrameType, str, Any], object], act: Callable[[], object]) -> None:
    """Run ``act`` and show every call and return in it to ``watch``."""
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        act()
    except Arrived:
        pass
    finally:
        sys.setprofile(before)


def walked(frame: pd.DataFrame) -> set[tuple[str, str]]:
    """The borders from a fit to its first batch."""
    borders: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if event == "call" and not is_part(frame):
            here, there = file_of(frame.f_back), file_of(frame)
            if here is not None and there is not None and here != there:
                borders.add((here, there))
        elif event == "return" and isinstance(value, Batch):
            raise Arrived

    watched(watch, lambda: Forecaster(Linear(), horizon=7).fit(frame))
    return borders


def wrappers(frame: pd.DataFrame) -> set[type]:
    """The classes of ours that are met while a frame is read, but those that a panel keeps."""
    met: set[type] = set()

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if event == "return" and file_of(frame) is not None:
            met.update(map(type, [value, *frame.f_locals.values()]))

    watched(watch, lambda: read_panel(frame))
    return {kind for kind in met if kind.__module__.startswith("tsformer.")} - KEPT


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    days = np.arange(120.0)
    values = np.sin(2 * np.pi * days / 7) + days / 100
    return pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=120), "y": values})


@pytest.fixture(scope="module")
def borders(frame: pd.DataFrame) -> set[tuple[str, str]]:
    walked(frame)  # what is computed once, such as the hints of types, is not part of the walk
    return walked(frame)


def test_the_walk_passes_through_reader_and_windows(borders: set[tuple[str, str]]) -> None:
    files = {file for border in borders for file in border}
    assert {"estimators/forecaster.py", "reading/reader.py", "windows/dataset.py"} <= files


def test_the_walk_to_a_batch_crosses_no_more_borders(borders: set[tuple[str, str]]) -> None:
    assert len(borders) <= MOST_BORDERS, sorted(borders)


def test_reading_a_frame_crosses_few_borders(borders: set[tuple[str, str]]) -> None:
    rooms = [{file.partition("/")[0] for file in border} for border in borders]
    assert sum(pair <= READING for pair in rooms) <= MOST_BORDERS_OF_READING, sorted(borders)


def test_a_frame_is_wrapped_few_times_on_its_way_to_a_panel(frame: pd.DataFrame) -> None:
    found = wrappers(frame)
    assert 0 < len(found) <= MOST_WRAPPERS, sorted(kind.__name__ for kind in found)
