#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/devices/neuron.hpp"

namespace nkigrid::device {

/// Where the vendor's parts stand; the defaults are those of its packages, tests have their own.
struct NeuronRoots {
  std::filesystem::path opt = "/opt";  ///< aws_neuronx_venv_*/bin/python, aws/neuron/lib, aws/neuron/bin/neuron-ls
  std::filesystem::path sys = "/sys";  ///< devices/virtual/dmi/id/product_name
  std::filesystem::path dev = "/dev";  ///< neuron0, neuron1, ...
};

/// A compiler that was found and is one we can drive.
struct NeuronCompiler {
  std::filesystem::path python;
  std::string version;                         ///< of neuronx-cc, e.g. "2.19.8089.0"
  std::string sdk;                             ///< "2.24"
  std::vector<std::filesystem::path> folders;  ///< what the interpreter reads
};

/// NeuronCores that were found, and how.
struct NeuronDevices {
  std::string platform;  ///< "trn1", "trn1n", "inf2", "trn2"; "": not known
  std::vector<std::uint32_t> cores;
  std::vector<std::filesystem::path> nodes;  ///< device files
  std::string how;  ///< "neuron-ls", "instance type trn1.2xlarge", "/dev/neuron*", "the grid's device.cores"
};

/// The SDK that a version of neuronx-cc belongs to, "" when it is of none known. @source the vendor's release table
std::string sdk_of(std::string_view neuronx_cc_version);

/// What speaks against a compiler, or "". @param package `__version__` of the package that answers to neuronxcc, ""
/// when there is none
/// @param nki version of the stand-alone package nki, "" when there is none
std::string compiler_fault(const std::string& version, const std::string& package, const std::string& nki,
                           const std::string& sdk);

/// Finds the compiler that a grid asks for.
/// @param libexec the folder of our helper programs
/// @throws Error{config} when it is none we can drive, or of another SDK; Error{external} when there is none: each says
/// what to do
NeuronCompiler find_neuron_compiler(const jobs::NeuronSpec& spec, const std::string& sdk,
                                    const std::filesystem::path& libexec, const NeuronRoots& roots = {});

/// Finds the cores: what the grid lists, else by neuron-ls, instance type, device files, in that order; the platform by
/// NEURON_PLATFORM_TARGET_OVERRIDE first of all. @returns no cores when there is no device
/// @throws Error{config} when the platform is known and is not the grid's target
NeuronDevices find_neuron_devices(const jobs::NeuronSpec& spec, const std::string& target,
                                  const NeuronRoots& roots = {});

/// The runtime's library. @throws Error{external} when it is not there
std::filesystem::path find_libnrt(const jobs::NeuronSpec& spec, const NeuronRoots& roots = {});

/// Variables of our own environment that the vendor's programs may see, and those that we set for all of them.
std::vector<std::string> neuron_environment(const std::filesystem::path& python, const NeuronRoots& roots = {});

}  // namespace nkigrid::device
