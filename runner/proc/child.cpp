#include "runner/proc/child.hpp"
