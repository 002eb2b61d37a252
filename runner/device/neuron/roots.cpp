#include "runner/device/neuron/roots.hpp"

#include <cstdlib>

#include <fmt/core.h>

#include "runner/proc/spawn.hpp"

namespace nkigrid::device {

std::string platform_override() {
  const char* value = std::getenv("NEURON_PLATFORM_TARGET_OVERRIDE");
  return value == nullptr ? "" : value;
}

std::vector<std::string> neuron_environment(const std::filesystem::path& python, const NeuronRoots& roots) {
  // Nothing of ours passes but the numeric settings and what site images set for the platform; the cores are given one
  // by one.
  auto variables = proc::numeric_environment();
  for (const char* fixed : {"PYTHONPATH=", "PYTHONHASHSEED=0", "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1",
                            "PYTHONSAFEPATH=1", "LANG=C.UTF-8"}) {
    variables.emplace_back(fixed);
  }
  const auto neuron = roots.opt / "aws/neuron";
  variables.push_back(
      fmt::format("PATH={}:{}:/usr/local/bin:/usr/bin:/bin", python.parent_path().native(), (neuron / "bin").native()));
  if (auto target = platform_override(); !target.empty())
    variables.push_back("NEURON_PLATFORM_TARGET_OVERRIDE=" + std::move(target));
  return variables;
}

}  // namespace nkigrid::device
