import threading
import warnings

import pytest

from tsformer.threads import ignored, ignored_for_long


def test_short_blocks_of_other_threads_leave_the_filters_of_a_long_one() -> None:
    before, inside, done = list(warnings.filters), threading.Event(), threading.Event()

    def short() -> None:
        with ignored():
            inside.set()
            done.wait(5)

    other = threading.Thread(target=short)
    other.start()
    inside.wait(5)
    releases = threading.Timer(0.05, done.set)
    releases.start()
    with ignored_for_long("dull"):  # waits until the other one has put back what it found
        other.join()
        warnings.warn("dull", UserWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="bright"):
            warnings.warn("bright", UserWarning, stacklevel=1)
    assert list(warnings.filters) == before
