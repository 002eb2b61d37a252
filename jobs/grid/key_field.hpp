#pragma once

#include <string>

namespace nkigrid::jobs {

/// One thing that a (cell, task) key depends on; the name is for people ("models.qwen.temperature").
struct KeyField {
  std::string name, value;
};

inline std::string flag_text(bool value) { return value ? "true" : "false"; }

}  // namespace nkigrid::jobs
