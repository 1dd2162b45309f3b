"""How far a forecast looks ahead, and what of the past is known that far ahead."""

import copy
from collections.abc import Sequence
from typing import Any

from tsformer import panels
from tsformer.errors import ParameterError
from tsformer.panels import Clip, Transform

__all__ = ["checked_lags", "listed_transforms"]


def checked_lags(lags: Any, ahead: int) -> tuple[int, ...]:
    """The lags in order; each must be known ``ahead`` steps (gap and horizon) in advance.

    Raises
    ------
    ParameterError
        Naming the first one that is not.
    """
    if not isinstance(lags, Sequence) or isinstance(lags, str):
        raise ParameterError(f"lags={lags!r}: give whole numbers of rows, such as [168]")
    for lag in lags:
        if isinstance(lag, bool) or int(lag) != lag or lag < ahead:
            raise ParameterError(
                f"lags={list(lags)}: {lag!r} is not a whole number of at least {ahead} rows (gap +"
                " horizon), so the value it points at is not known for the whole forecast"
            )
    return tuple(sorted({int(lag) for lag in lags}))


def listed_transforms(
    transforms: Any, *, nonnegative: bool = False, ahead: int
) -> tuple[Transform, ...]:
    """The transforms in the order in which they are applied.

    Raises
    ------
    ParameterError
        If something else is among them, or one of them needs values that are not yet known.
    """
    given = () if transforms is None else transforms
    if isinstance(given, str) or not isinstance(given, Transform | Sequence):
        raise ParameterError(f"transforms={given!r}: give one or several of {_offered()}")
    # copies, so that what is set later moves no fit
    listed = copy.deepcopy((given,) if isinstance(given, Transform) else tuple(given))
    for one in listed:
        if not isinstance(one, Transform):
            raise ParameterError(f"transforms holds {one!r}; give one or several of {_offered()}")
        one.check()
        one.check_reach(ahead)
    # undone last: nothing comes between the clipped values and the caller
    return (Clip(low=0.0), *listed) if nonnegative else listed


def _offered() -> str:
    kinds = [getattr(panels, name) for name in panels.__all__]
    transforms = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Transform)]
    return ", ".join(f"{kind.__name__}()" for kind in transforms if kind is not Transform)
