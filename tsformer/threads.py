"""What threads of one process take turns at: its noise, and its filters of warnings."""

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

__all__ = ["ignored", "ignored_for_long", "turns"]


def turns() -> Callable[[], AbstractContextManager[None]]:
    """A block in which one thread stands at a time; a child that is forked meanwhile finds it free.

    Examples
    --------
    >>> in_turn = turns()
    >>> with in_turn(), in_turn():  # a thread may enter again
    ...     pass
    """
    lock = threading.RLock()

    def renew() -> None:
        nonlocal lock
        lock = threading.RLock()

    @contextmanager
    def in_turn() -> Iterator[None]:
        with lock:
            yield

    if hasattr(os, "register_at_fork"):  # a thread that held the lock does not exist in a child
        os.register_at_fork(after_in_child=renew)
    return in_turn


# filters of warnings are the process's: two threads that change and restore them in turns that
# overlap would leave the filters of one behind, or take them from the other too early
_filters = turns()


@contextmanager
def ignored(category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a category within a short block, one thread at a time.

    Examples
    --------
    >>> with ignored(RuntimeWarning):
    ...     warnings.warn("of no interest", RuntimeWarning)
    """
    with _filters(), warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def ignored_for_long(*messages: str) -> Iterator[None]:
    """Ignore warnings whose text matches within a block during which other threads go on.

    Only one such block may be open at a time.
    """
    caught = warnings.catch_warnings()
    with _filters():
        caught.__enter__()
        for message in messages:
            warnings.filterwarnings("ignore", message=message)
    try:
        yield
    finally:
        with _filters():
            caught.__exit__(None, None, None)
