"""NetCDF files and averages."""
