import pytest

from tsformer.evaluation.digits import number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (161_349.2, "161,300"),
        (0.0, "0"),
        (-1234.56, "-1,235"),
        (0.00012345, "0.0001234"),
        (3.2e-7, "3.2e-07"),
        (123_456_789_012.0, "123,456,789,012"),
        (2.5e18, "2.5e+18"),
        (float("nan"), "nan"),
    ],
)
def test_four_digits_and_marks_between_thousands(value: float, written: str) -> None:
    assert number(value) == written
