#include "runner/mpi/comm.hpp"
