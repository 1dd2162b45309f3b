import pytest
from jaxtyping import config


@pytest.fixture
def unchecked():
    """Switch the shape and type checks off, for tests of what the code itself refuses."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
