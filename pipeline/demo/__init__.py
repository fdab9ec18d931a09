"""The generated demonstration study with exact answers."""
