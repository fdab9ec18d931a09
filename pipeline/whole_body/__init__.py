"""Trunk, head and arms: frames, angles, loads; balance of the whole body."""
