"""A force plate: parameters, baseline, wrench, centre of pressure."""
