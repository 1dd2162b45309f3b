"""A bar on long work where a person watches, silence otherwise."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """What moves a bar by so many; without a terminal it does nothing.

    Examples
    --------
    >>> with progress_bar("cells", 3) as advance:
    ...     advance(1)
    """
    if not (sys.stderr and sys.stderr.isatty()):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)
