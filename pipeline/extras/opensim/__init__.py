"""The files with which OpenSim goes on, and the step `muscles`: muscles of a scaled model in each gait cycle."""
