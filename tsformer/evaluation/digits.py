"""Numbers as they are written for people."""

import math

__all__ = ["number"]


def number(value: float) -> str:
    """Four digits that count, with marks between thousands.

    Examples
    --------
    >>> number(161_349.2), number(0.81234), number(12.0)
    ('161,300', '0.8123', '12')
    """
    if not math.isfinite(value) or value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    return f"{float(f'{value:.4g}'):,.10g}" if abs(value) < 1e10 else f"{round(value):,}"
