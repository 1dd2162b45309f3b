import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Forecaster, SeasonalNaive
from tsformer.experiments import Experiment, Published, plot_scores, run, score_table, write_report
from tsformer.models import Linear

FRAME = pd.DataFrame({"y": np.tile(np.arange(7.0), 12)})
EXPERIMENT = Experiment(
    "Is drift better?",
    datasets={"toy": FRAME},
    horizons=[2, 3],
    forecasters={
        "drift": Drift(horizon=1),
        "naive": SeasonalNaive(horizon=1, season_length=7),
        "long": Forecaster(Linear(), horizon=1, context=500),
    },
    folds=3,
    metrics=["mae", "mse"],
    published=(
        Published(
            "naive", "a table of 2021", "Its last batch is dropped.", {("toy", 2): {"mae": 0.5}}
        ),
    ),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "ask"
    with pytest.warns(UserWarning, match="2 of 6 cells failed"):
        run(EXPERIMENT, store=folder)
    return folder


def test_a_table_has_means_of_what_was_run_and_what_others_printed():
    results = pd.DataFrame(
        {
            "dataset": "toy",
            "horizon": [2, 2, 2, 3],
            "forecaster": ["drift", "naive", "naive", "long"],
            "mae": [1.0, 1.0, 3.0, np.nan],
        }
    )
    table = score_table(EXPERIMENT, results, "mae")
    assert table.loc[("toy", 2)].to_dict() == {
        "drift": "1.000",
        "naive": "2.000 ± 1.414",
        "naive, printed": "0.500",
    }
    assert table.loc[("toy", 3)].to_dict() == {"drift": "-", "naive": "-", "naive, printed": "-"}


def test_a_page_has_question_table_picture_and_provenance(store):
    page = write_report(EXPERIMENT, store=store, path=store.parent / "ask.md")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ask\n\nIs drift better?\n")
    assert "| toy | 2 | " in text and "| 0.500 |" in text
    assert "![MAE by horizon](ask.png)" in text and (store.parent / "ask.png").stat().st_size > 5000
    assert "Windows by horizon, the same for all:\n\n- toy: 3, 3\n" in text
    assert "- toy/2/long: SeriesTooShort" in text
    assert "- naive: a table of 2021. Its last batch is dropped." in text
    assert "- 4 cells, " in text and "torch 2." in text
    assert max(map(len, text.splitlines())) < 400


def test_a_picture_has_a_line_a_forecaster_and_an_axis_a_data_set(store):
    results = run(EXPERIMENT, store=store, cells=["*/*/drift", "*/*/naive"])
    figure = plot_scores(EXPERIMENT, results, "mae")
    (axis,) = figure.axes
    assert axis.get_title() == "toy"
    assert [line.get_label() for line in axis.get_lines()] == ["drift", "naive"]
    assert axis.get_lines()[1].get_ydata() == pytest.approx([0, 0])
