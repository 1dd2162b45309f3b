"""Stamps, steps, seasons and calendars; knows no panel."""

from tsformer.time.calendar import calendar_features

__all__ = ["calendar_features"]
