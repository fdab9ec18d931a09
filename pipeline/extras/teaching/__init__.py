"""Systems for lessons, which docs and tests use."""
