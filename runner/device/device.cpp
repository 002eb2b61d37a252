#include "runner/device/device.hpp"
