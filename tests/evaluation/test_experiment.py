import json

import numpy as np
import pandas as pd

from tsformer.evaluation import store_result


def test_a_result_says_what_was_asked_and_how(tmp_path):
    script = tmp_path / "experiments" / "why.py"
    script.parent.mkdir()
    table = pd.DataFrame({"mae": [0.125, np.nan]}, index=pd.Index(["a", "b"], name="model"))
    path = store_result(
        script, {"toy": table}, question="Why?", quick=False, seconds=2.04, facts={"best": {"x": 1}}
    )
    assert path == script.parent / "results" / "why.json"
    record = json.loads(path.read_text())
    assert record["command"] == "python experiments/why.py"
    assert record["tables"]["toy"] == [{"model": "a", "mae": 0.125}, {"model": "b", "mae": None}]
    assert record["facts"] == {"best": {"x": 1}} and record["seconds"] == 2.0
    assert record["versions"]["torch"] and record["seeds"] == [0]
