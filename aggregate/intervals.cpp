#include "aggregate/intervals.hpp"
