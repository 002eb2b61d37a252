#include "runner/nkisim/program.hpp"
