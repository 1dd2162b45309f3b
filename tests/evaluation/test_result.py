import pytest

from tsformer import Drift, Forecaster, Training, backtest, load_dataset
from tsformer.datasets import make_series
from tsformer.errors import ParameterError
from tsformer.models import Informer


def test_a_notebook_shows_title_and_table():
    result = backtest(Drift(horizon=12), load_dataset("air_passengers"), folds=2)
    shown = result._repr_html_()
    assert shown.startswith(f"<p>{result.title}</p><table")
    assert all(name in shown for name in ("Drift", "SeasonalNaive", "mase"))


def test_windows_are_kept_on_request_and_paired():
    air = load_dataset("air_passengers")
    result = backtest(Drift(horizon=12), air, folds=3, metrics=["mae", "mase"], keep_windows=True)
    table = result.by_window()
    assert table.columns.tolist() == ["forecaster", "series", "cutoff", "mae", "mase"]
    drift, naive = (part.reset_index(drop=True) for _, part in table.groupby("forecaster"))
    assert drift["cutoff"].tolist() == naive["cutoff"].tolist()
    assert drift["cutoff"].tolist() == result.scores["cutoff"].tolist()[:3]
    assert drift["mae"].to_numpy() == pytest.approx(result.scores["mae"].to_numpy()[:3])
    with pytest.raises(ParameterError, match="keep_windows=True"):
        backtest(Drift(horizon=12), air, folds=2).by_window()


@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_every_fit_is_told():
    frame = make_series("seasonal", 60)
    one = Forecaster(
        Informer(d_model=8, d_ff=8),
        horizon=2,
        context=7,
        training=Training(epochs=2),
        random_state=0,
    )
    fits = backtest(one, frame, folds=2, refit=True).fits
    assert fits["forecaster"].tolist() == ["Informer", "SeasonalNaive"] * 2
    assert fits["rows"].tolist() == [56, 56, 58, 58]
    assert fits["context"].tolist()[0] == 7
    assert fits["epochs"].tolist() == [2, 0, 2, 0]
    assert fits["cut_short"].tolist() == [""] * 4 and (fits["seconds"] >= 0).all()
