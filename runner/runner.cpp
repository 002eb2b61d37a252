#include "runner/runner.hpp"
