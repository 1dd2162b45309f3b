"""The rows of the contract stand in modules beside test_contract.py, which are found here."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite(
    "contract_rows", "contract_shape", "contract_values", "contract_time", "contract_calls"
)
