#include "runner/device/neuron/node.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/proc/child.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kListSeconds = 30;
constexpr std::uint32_t kCoresADevice = 2;  // of a Trainium 1 or Inferentia 2 chip

/// "trn1" of "trn1.32xlarge".
std::string family_of(std::string instance) {
  while (!instance.empty() && (instance.back() == '\n' || instance.back() == ' ')) instance.pop_back();
  return instance.substr(0, instance.find('.'));
}

std::string instance_type(const fs::path& sys) {
  std::error_code ignored;
  const auto file = sys / "devices/virtual/dmi/id/product_name";
  if (!fs::exists(file, ignored)) return "";
  auto name = read_file(file);
  name = name.substr(0, name.find('\n'));
  const auto family = family_of(name);
  const bool known = family == "trn1" || family == "trn1n" || family == "inf2" || family.starts_with("trn2") ||
                     family.starts_with("trn3");
  return known ? name : "";
}

std::vector<fs::path> device_nodes(const fs::path& dev) {
  std::vector<fs::path> nodes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dev, ignored)) {
    const auto name = entry.path().filename().native();
    if (!name.starts_with("neuron") || name.size() == 6) continue;
    if (std::all_of(name.begin() + 6, name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      nodes.push_back(entry.path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<std::uint32_t> first_cores(std::uint32_t count) {
  std::vector<std::uint32_t> cores;
  for (std::uint32_t i = 0; i < count; ++i) cores.push_back(i);
  return cores;
}

/// Cores by `neuron-ls --json-output`: a list of devices, each with nc_count and, in later versions, neuroncore_ids.
std::vector<std::uint32_t> listed_cores(const NeuronRoots& roots) {
  const auto program = roots.opt / "aws/neuron/bin/neuron-ls";
  std::error_code ignored;
  if (!fs::exists(program, ignored)) return {};
  const auto result = proc::run_command({program, "--json-output"}, Seconds(kListSeconds),
                                        neuron_environment("/usr/bin/python3", roots));
  const auto list = json::parse(result.out, nullptr, false);
  if (!proc::is_success(result.end) || !list.is_array()) return {};
  std::vector<std::uint32_t> cores;
  for (const auto& device : list) {
    if (device.contains("neuroncore_ids") && device["neuroncore_ids"].is_array()) {
      for (const auto& id : device["neuroncore_ids"]) cores.push_back(id.get<std::uint32_t>());
    } else {
      const auto count = device.value("nc_count", 0U);
      for (std::uint32_t i = 0; i < count; ++i) cores.push_back(static_cast<std::uint32_t>(cores.size()));
    }
  }
  return cores;
}

std::string platform_of(const NeuronRoots& roots) {
  if (const auto given = platform_override(); !given.empty()) return given;
  return family_of(instance_type(roots.sys));
}

}  // namespace

NeuronDevices find_neuron_devices(const jobs::NeuronSpec& spec, const std::string& target, const NeuronRoots& roots) {
  NeuronDevices found;
  found.platform = platform_of(roots);
  found.nodes = device_nodes(roots.dev);
  if (!found.platform.empty() && found.platform != target && !(target == "trn1" && found.platform == "trn1n")) {
    throw Error(
        ErrorCode::config,
        fmt::format("this node is {}, the grid's device.target is {}; run on a node of that kind, or set device.target",
                    found.platform, target));
  }
  const auto instance = instance_type(roots.sys);
  if (!spec.cores.empty()) {
    found.cores = spec.cores;
    found.how = "the grid's device.cores";
  } else if (auto listed = listed_cores(roots); !listed.empty()) {
    found.cores = std::move(listed);
    found.how = "neuron-ls";
  } else if (instance == "trn1.2xlarge" || instance == "trn1.32xlarge" || instance == "trn1n.32xlarge") {
    found.cores = first_cores(instance == "trn1.2xlarge" ? 2 : 32);
    found.how = "instance type " + instance;
  } else if (!found.nodes.empty()) {
    found.cores = first_cores(kCoresADevice * static_cast<std::uint32_t>(found.nodes.size()));
    found.how = (roots.dev / "neuron*").native();
  }
  return found;
}

fs::path find_libnrt(const jobs::NeuronSpec& spec, const NeuronRoots& roots) {
  const fs::path library = spec.libnrt == "auto" ? roots.opt / "aws/neuron/lib/libnrt.so.1" : fs::path(spec.libnrt);
  std::error_code ignored;
  if (fs::exists(library, ignored)) return library;
  throw Error(ErrorCode::external,
              fmt::format("the Neuron runtime '{}' is not there; install aws-neuronx-runtime-lib, or set device.libnrt",
                          library.native()));
}

}  // namespace nkigrid::device
