"""Reading and writing C3D files."""
