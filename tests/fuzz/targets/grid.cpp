#include <exception>

#include "jobs/grid/yaml_tree.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {

void grid(std::string_view bytes) {
  jobs::Problems problems("grid.yaml");
  const auto tree = jobs::parse_yaml(bytes, problems);
  if (!tree && problems.empty()) __builtin_trap();  // refused without a word
}

}  // namespace nkigrid::fuzz
