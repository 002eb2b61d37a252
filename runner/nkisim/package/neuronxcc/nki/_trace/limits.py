"""Sizes of a NeuronCore-v2, and those that the reader of programs refuses (runner/nkisim/program)."""

# The chip.
PMAX = 128  # partitions
SBUF_RESERVED_BYTES = 16 * 1024  # of a partition: what the compiler keeps where tiles are placed by hand
SBUF_BYTES = 192 * 1024 - SBUF_RESERVED_BYTES
PSUM_BYTES = 16 * 1024  # a partition's
PSUM_BANKS = 8
PSUM_BANK_BYTES = PSUM_BYTES // PSUM_BANKS  # a matmul's result lies in one
HBM_BYTES = 16 << 30  # a core's half of the chip's 32 GiB
STATIONARY_FMAX, MOVING_FMAX = 128, 512  # free sizes of a matmul's operands
BN_STATS_FMAX = 512

# The reader.
MAX_RANK = 8
MAX_CONDITIONS, MAX_SOURCES = 64, 16  # of one operation
MAX_NODES = 190_000  # it refuses more than 200,000
MAX_BUFFERS, MAX_ATOMS, MAX_NESTING = 16_000, 4_000, 60
MAX_TRIPS = 1 << 31  # indices are proved in 64 bits
MAX_EXECUTED, MAX_ELEMENTS = 100_000_000, 10**13
MAX_PROGRAM_BYTES = 8 << 20
MAX_TENSOR_BYTES = 1 << 62  # block dimensions are storage only when touched, but they are counted in 64 bits
