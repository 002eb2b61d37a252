#include "jobs/grid/device.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/folders.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

template <std::size_t... I>
std::vector<BackendSpec> defaults(std::index_sequence<I...>) {
  return {BackendSpec(std::in_place_index<I>)...};
}

std::span<const std::string_view> keys_of(const BackendSpec& backend) {
  return std::visit([](const auto& own) { return std::span<const std::string_view>(own.kKeys); }, backend);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const auto& backend : all_backends()) names.emplace_back(name_of(backend));
  return names;
}

/// A key of another backend would be passed over in silence: it is refused, with the name of its owner.
void refuse_foreign_keys(Fields& fields, const BackendSpec& backend) {
  const auto own = keys_of(backend);
  for (const auto& other : all_backends()) {
    for (const auto key : keys_of(other)) {
      const auto* node = fields.find(key);
      if (node == nullptr || std::find(own.begin(), own.end(), key) != own.end()) continue;
      fields.problems().add(node->key_place,
                            fmt::format("{} means nothing for backend {} (it belongs to {}); leave it out",
                                        fields.path_of(key), name_of(backend), name_of(other)));
    }
  }
}

/// While it is not known which backend is meant, every backend's key may be right.
void let_all_keys_pass(Fields& fields) {
  for (const auto& backend : all_backends()) {
    for (const auto key : keys_of(backend)) fields.find(key);
  }
}

NkiOptions read_options(Fields& fields) {
  static const std::vector<std::string> kTargets = {"trn1"};
  static const std::vector<std::string> kSdks = {"2.23", "2.24", "2.25", "2.26"};  // the era of neuronxcc.nki
  NkiOptions options;
  options.sdk = fields.choice("sdk", options.sdk, kSdks);
  options.target = fields.choice("target", options.target, kTargets);
  options.strict_paper_names = fields.flag("strict_paper_names", options.strict_paper_names);
  static const std::vector<std::string> kStrict = {"2.24"};
  options.strict = fields.choice("strict", options.strict, kStrict);
  return options;
}

/// A compiler has its own mind of what it takes.
void refuse_strict(Fields& fields, const BackendSpec& backend) {
  const auto* node = fields.find("strict");
  if (node == nullptr || std::holds_alternative<SimSpec>(backend)) return;
  fields.problems().add(node->key_place,
                        fmt::format("device.strict means nothing for backend {} (it belongs to {}); leave it out",
                                    name_of(backend), SimSpec::kName));
}

}  // namespace

const std::vector<BackendSpec>& all_backends() {
  static const auto kAll = defaults(std::make_index_sequence<std::variant_size_v<BackendSpec>>());
  return kAll;
}

std::string_view name_of(const BackendSpec& backend) {
  return std::visit([](const auto& own) { return own.kName; }, backend);
}

BackendSpec backend_named(std::string_view name) {
  for (const auto& backend : all_backends()) {
    if (name_of(backend) == name) return backend;
  }
  throw Error(ErrorCode::config, fmt::format("device backend '{}' is not in this version (there are: {}); set "
                                             "device.backend to one of them",
                                             name, fmt::join(backend_names(), ", ")));
}

DeviceSpec read_device(const YamlNode& node, const Folders& folders, Problems& problems) {
  DeviceSpec device;
  Fields fields(node, "device", problems);
  const auto name = fields.choice("backend", std::string(name_of(device.backend)), backend_names());
  const auto* said = fields.find("backend");
  device.backend = backend_named(name);
  device.nki = read_options(fields);
  if (said == nullptr || said->text == name) {
    refuse_foreign_keys(fields, device.backend);
    refuse_strict(fields, device.backend);
    std::visit([&](auto& own) { read_own(fields, folders, own); }, device.backend);
  } else {
    let_all_keys_pass(fields);
  }
  fields.finish();
  return device;
}

void write_backend(const BackendSpec& backend, FlowMap& map) {
  std::visit([&](const auto& own) { write_own(own, map); }, backend);
}

std::vector<KeyField> backend_key_fields(const BackendSpec& backend) {
  return std::visit([](const auto& own) { return own_key_fields(own); }, backend);
}

}  // namespace nkigrid::jobs
