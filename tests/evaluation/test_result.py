from tsformer import Drift, backtest, load_dataset


def test_a_notebook_shows_title_and_table():
    result = backtest(Drift(horizon=12), load_dataset("air_passengers"), folds=2)
    shown = result._repr_html_()
    assert shown.startswith(f"<p>{result.title}</p><table")
    assert all(name in shown for name in ("Drift", "SeasonalNaive", "mase"))
