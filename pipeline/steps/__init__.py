"""One room a step.

declaration.py says what the step is, settings.py its settings, cells.py what its key holds of tables and files, step.py
has its function, the other modules its parts.
"""
