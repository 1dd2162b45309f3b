"""Backtests: how wrong a forecaster would have been, beside seasonal persistence."""

from tsformer.evaluation.experiment import store_result
from tsformer.evaluation.metrics import METRICS, Metric
from tsformer.evaluation.result import Backtest
from tsformer.evaluation.run import backtest

__all__ = ["METRICS", "Backtest", "Metric", "backtest", "store_result"]
