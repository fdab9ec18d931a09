"""What is optional, one folder each: it and its tests can be deleted, and nothing else names it."""
