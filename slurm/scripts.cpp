#include "slurm/slurm.hpp"
