#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nkigrid::device {

/// Where the vendor's parts stand; the defaults are those of its packages, tests have their own.
struct NeuronRoots {
  std::filesystem::path opt = "/opt";  ///< aws_neuronx_venv_*/bin/python, aws/neuron/lib, aws/neuron/bin/neuron-ls
  std::filesystem::path sys = "/sys";  ///< devices/virtual/dmi/id/product_name
  std::filesystem::path dev = "/dev";  ///< neuron0, neuron1, ...
};

/// NEURON_PLATFORM_TARGET_OVERRIDE, by which site images say what a node is; "" when it is not set.
std::string platform_override();

/// Variables of our own environment that the vendor's programs may see, and those that we set for all of them.
std::vector<std::string> neuron_environment(const std::filesystem::path& python, const NeuronRoots& roots = {});

}  // namespace nkigrid::device
