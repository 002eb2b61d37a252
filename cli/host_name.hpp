#pragma once

#include <string>

#include <unistd.h>

namespace nkigrid::cli {

/// Under which other machines find this one.
inline std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace nkigrid::cli
