#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/grid/devices/neuron.hpp"
#include "runner/device/neuron/roots.hpp"

namespace nkigrid::device {

/// NeuronCores that were found, and how.
struct NeuronDevices {
  std::string platform;  ///< "trn1", "trn1n", "inf2", "trn2"; "": not known
  std::vector<std::uint32_t> cores;
  std::vector<std::filesystem::path> nodes;  ///< device files
  std::string how;  ///< "neuron-ls", "instance type trn1.2xlarge", "/dev/neuron*", "the grid's device.cores"
};

/// Finds the cores: what the grid lists, else by neuron-ls, instance type, device files, in that order; the platform by
/// NEURON_PLATFORM_TARGET_OVERRIDE first of all. @returns no cores when there is no device
/// @throws Error{config} when the platform is known and is not the grid's target
NeuronDevices find_neuron_devices(const jobs::NeuronSpec& spec, const std::string& target,
                                  const NeuronRoots& roots = {});

/// The runtime's library. @throws Error{external} when it is not there
std::filesystem::path find_libnrt(const jobs::NeuronSpec& spec, const NeuronRoots& roots = {});

}  // namespace nkigrid::device
