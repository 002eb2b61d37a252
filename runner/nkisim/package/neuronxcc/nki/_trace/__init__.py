"""The tracer behind neuronxcc.nki: it records a kernel once, with symbolic loop indices, as a program without data."""
