#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/grid/devices/command.hpp"
#include "jobs/grid/devices/neuron.hpp"
#include "jobs/grid/devices/no_keys.hpp"

namespace nkigrid::jobs {

class Problems;
struct YamlNode;

/// The CPU simulator.
struct SimSpec : NoKeys {
  static constexpr std::string_view kName = "sim";
};

/// What kernels are written for; every backend is told.
struct NkiOptions {
  std::string sdk = "2.24";
  std::string target = "trn1";
  bool strict_paper_names = false;
  std::string
      strict;  ///< the simulator alone: the SDK whose documents hold to the letter; empty: later compilers' ways
};

/// The table of backends, each by what a grid says of it: `kName` stands under device.backend, `kKeys` are the keys of
/// `device` that it alone knows. The first is the default. Whoever asks which backend a grid has asks for the type.
using BackendSpec = std::variant<SimSpec, NeuronSpec, CommandSpec>;

struct DeviceSpec {
  NkiOptions nki;
  BackendSpec backend;
};

/// Every backend with its defaults, in the order of the table.
const std::vector<BackendSpec>& all_backends();
std::string_view name_of(const BackendSpec& backend);
/// The backend of this name with its defaults. @throws Error{config} with the names there are
BackendSpec backend_named(std::string_view name);

/// Reads the section `device`; adds problems and reads on.
DeviceSpec read_device(const YamlNode& node, const Folders& folders, Problems& problems);
/// What a backend's own keys add to the section as written, and to the key of a (cell, task): what decides results.
void write_backend(const BackendSpec& backend, FlowMap& map);
std::vector<KeyField> backend_key_fields(const BackendSpec& backend);

}  // namespace nkigrid::jobs
