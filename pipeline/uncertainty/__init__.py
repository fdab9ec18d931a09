"""Errors of measurement: their draws, the motion and loads with them, bands."""
