#include "jobs/grid.hpp"
