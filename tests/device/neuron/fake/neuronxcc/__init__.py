"""A stand-in for the vendor's compiler package in tests: its stages, errors and files, with the simulator's tracer
inside."""
__version__ = "2.19.8089.0"
