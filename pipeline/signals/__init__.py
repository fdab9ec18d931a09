"""Filters, splines, time normalisation, distances between markers."""
