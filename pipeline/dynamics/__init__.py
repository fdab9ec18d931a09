"""Rigid-body dynamics in NumPy."""
