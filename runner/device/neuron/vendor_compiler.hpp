#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/devices/neuron.hpp"
#include "runner/device/neuron/roots.hpp"

namespace nkigrid::device {

/// A compiler that was found and is one we can drive.
struct NeuronCompiler {
  std::filesystem::path python;
  std::string version;                         ///< of neuronx-cc, e.g. "2.19.8089.0"
  std::string sdk;                             ///< "2.24"
  std::vector<std::filesystem::path> folders;  ///< what the interpreter reads
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

}  // namespace nkigrid::device
