import warnings

import pytest

from tsformer.cures import Cure, warn
from tsformer.errors import DataWarning


@pytest.mark.parametrize(
    ("cure", "python", "options"),
    [
        (Cure("Give more rows"), "Give more rows.", "Give more rows."),
        (
            Cure("Name it", {"schema__time": "day of sale"}),
            'Name it: schema=Schema(time="day of sale").',
            'Name it: --time "day of sale".',
        ),
        (
            Cure("Name them", {"schema__target": ["a", "b"], "horizon": 3}),
            "Name them: schema=Schema(target=['a', 'b']), horizon=3.",
            "Name them: --target a,b --horizon 3.",
        ),
        (
            Cure("Train shorter", {"training__max_time": ...}),
            "Train shorter: training=Training(max_time=...).",
            "Train shorter: --max-time MAX_TIME.",
        ),
        (
            Cure("Parse it", code='pd.to_datetime(frame["d"])', option="--time-format FORMAT"),
            'Parse it: pd.to_datetime(frame["d"]).',
            "Parse it: --time-format FORMAT.",
        ),
        (
            Cure("Parse it", {"schema__time": "d"}, code="frame", option='--time-format "%d"'),
            "Parse it: frame.",
            'Parse it: --time d --time-format "%d".',
        ),
        (Cure("Drop it", code="frame.dropna()"), "Drop it: frame.dropna().", ""),
    ],
)
def test_both_wordings(cure: Cure, python: str, options: str) -> None:
    assert cure.python() == python
    assert cure.options() == options


def test_a_warning_points_at_the_line_that_called_in() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(DataWarning("The last row is a total.", Cure("Keep it", {"schema__freq": "D"})))
    (one,) = caught
    assert one.filename == __file__
    assert str(one.message) == 'The last row is a total. Keep it: schema=Schema(freq="D").'
