"""Pictures of forecasts, to show to somebody; matplotlib is loaded when one is drawn.

The figures need no display and no ``pyplot``: ``figure.savefig("forecast.png")`` writes one, and a
notebook shows it. Colours are those of Okabe and Ito, which colour-blind people tell apart.
"""

from tsformer.plots.backtests import plot_backtest
from tsformer.plots.forecasts import plot_forecast

__all__ = ["plot_backtest", "plot_forecast"]
