"""Several models for a backtest, each with settings and a name of its own."""

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from tsformer.cli.forecasters import build_forecaster, known_model
from tsformer.cli.options import Model, Settings
from tsformer.errors import ParameterError

if TYPE_CHECKING:
    from tsformer.cli.files import Data

__all__ = ["build_several"]

_INSIDE = r"(?![^(\[{]*[)\]}])"  # not between brackets: (0.1,0.9) is one value


def build_several(
    data: "Data", horizon: int, models: list[str] | None, options: Settings, **defaults: Any
) -> dict[str, Any]:
    """Forecasters by the names of their models, as :func:`build_forecaster` makes each.

    ``linear:context=28`` is a model with a setting of its own, which its name tells and which goes
    before ``--set``. Options that a model without training has no use for are left to the others.
    """
    from tsformer import estimators

    listed = [one.strip() for text in models or () for one in re.split(f",{_INSIDE}", text)]
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    made: dict[str, Any] = {}
    for text in listed or [""]:
        model, *own = re.split(f":{_INSIDE}", text)
        kind = known_model(model) if model else None
        plain = len(listed) > 1 and kind in estimators.BASELINES
        shared = {} if plain else given
        settings = [*(shared.get("settings") or ()), *own]
        chosen = Model(model=model or None, **{**shared, "settings": settings})
        forecaster = build_forecaster(data, horizon, chosen, **defaults)
        if kind is None and forecaster.model is None:
            forecaster.model = _model_for(data, forecaster)
        name = type(getattr(forecaster, "model", forecaster)).__name__
        name += f"({', '.join(one.strip() for one in own)})" if own else ""
        if name in made:
            raise ParameterError(
                f"--model {text} is given twice: name each model once, or tell them apart by a"
                f" setting of their own: --model {model}:context=48"
            )
        made[name] = forecaster
    return made


def _model_for(data: "Data", forecaster: Any) -> Any:
    """The model that a forecaster without one would choose, so that it has a name."""
    from tsformer.estimators.parameters import default_context, default_model
    from tsformer.reading import read_panel

    panel = read_panel(data.frame, data.schema, data.policy)
    horizon = forecaster.horizon
    context = forecaster.context or default_context(panel, horizon, short=data.policy.short)
    return default_model(panel, context, horizon)
