"""Sizes of a person: those that recordings show, and whether they agree with the table."""
