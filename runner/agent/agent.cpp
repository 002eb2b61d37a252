#include "runner/agent/agent.hpp"
