"""A large n-tuple system, four tables a window, taught by deep searches of its own games."""
