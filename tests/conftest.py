"""What every test shares.

Nothing of tsformer is imported here at the top: the shape checks are put in when its modules are
first imported.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# before anything imports matplotlib: no test opens a window
os.environ["MPLBACKEND"] = "Agg"
# before anything imports torch: tiny tensors lose more to a second thread than they gain
os.environ.setdefault("OMP_NUM_THREADS", "1")

# the first example pays for imports, so a deadline would measure those
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


# asserts in what the tests share say as much as those in the tests
pytest.register_assert_rewrite(
    *(path.stem for path in (Path(__file__).parent / "support").glob("*.py"))
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process where a few files are named, or where tests start processes of their own."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return None if whole and config.option.markexpr == "not slow" else 0


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("shared_data") and not os.environ.get("TSFORMER_DATA"):
        pytest.skip("TSFORMER_DATA is not set")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the large data sets; a test that uses it is skipped without one."""
    folder = os.environ.get("TSFORMER_DATA")
    if not folder:
        pytest.skip("TSFORMER_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def top() -> Path:
    """The top of the checkout."""
    return Path(__file__).resolve().parents[1]
