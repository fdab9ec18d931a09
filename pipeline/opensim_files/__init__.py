"""TRC and MOT files as recordings, and the text tables that OpenSim reads and writes."""
