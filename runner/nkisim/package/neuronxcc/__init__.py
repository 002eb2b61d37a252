"""A CPU simulator that answers to the name of the Neuron compiler package; `__version__` says so."""

__version__ = "2.19.8089.0+nkisim"
