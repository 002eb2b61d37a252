#pragma once

#include <filesystem>

namespace nkigrid::device {

/// Where a device finds its parts.
struct DevicePaths {
  std::filesystem::path libexec;      ///< folder of our helper programs
  std::filesystem::path nkisim;       ///< folder that holds the package neuronxcc
  std::filesystem::path entry_rules;  ///< Python file with the rules of a kernel file, the same for every compiler
  std::filesystem::path cache;        ///< node-local folder of reference results; made when absent
  std::filesystem::path posed;        ///< node-local folder of what tasks were found to be; made when absent
};

/// The paths that belong to this binary (build tree or install prefix).
/// @throws Error{config} when the helper programs are nowhere near it
DevicePaths default_device_paths();

}  // namespace nkigrid::device
