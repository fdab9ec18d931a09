"""The trials of a session as one dataset, and those that a step can use."""
