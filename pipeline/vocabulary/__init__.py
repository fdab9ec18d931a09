"""Names that labs and programs give to markers, events and muscles."""
