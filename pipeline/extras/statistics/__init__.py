"""Repeatability of measurements, differences of groups, tests of curves, norms of controls."""
