"""Text tables: study tables, CSV, terminal."""
