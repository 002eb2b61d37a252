#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
struct Folders;

/// Where a key comes from; never the key itself.
struct KeySource {
  enum class Kind { none, env, file, command };
  Kind kind = Kind::none;
  std::string value;                 ///< variable or path
  std::vector<std::string> command;  ///< argv
  bool operator==(const KeySource&) const = default;
};

/// A model behind a server, whatever the server speaks.
struct Remote {
  std::string endpoint;  ///< base URL, e.g. http://gpu01:8000/v1
  std::string model;     ///< what the server calls it; default: the model's name in the grid
  KeySource key;
};

// One struct an api, with what it alone knows of a model. `kName` stands under models.NAME.api; `kKeys` are the keys of
// models.NAME that mean something for it beside those that every model has. What is read, written and hashed of it
// stands in one section of apis.cpp. A member `remote` makes it an api with an endpoint.

/// Known kernels of the benchmark, broken and repaired the way models do it; no language model.
struct Synthetic {
  static constexpr std::string_view kName = "synthetic";
  static constexpr std::array<std::string_view, 1> kKeys = {"profile"};

  std::string profile;                 ///< its name, profiles/<name>.yaml; default: the model's name
  std::filesystem::path profile_file;  ///< where it was found
  std::string profile_hash;            ///< SHA-256 (hex) of the file
};

/// Chat completions as OpenAI, vLLM and `nkigrid serve` speak them.
struct OpenAi {
  static constexpr std::string_view kName = "openai";
  static constexpr std::array<std::string_view, 4> kKeys = {"endpoint", "model", "key", "server"};

  Remote remote;
};

/// The table of apis. Whoever asks which api a model has asks a function below what follows from it.
using ModelApi = std::variant<Synthetic, OpenAi>;

std::string_view name_of(const ModelApi& api);
/// The server behind the model; null when it runs in this process.
const Remote* remote_of(const ModelApi& api);
inline bool has_endpoint(const ModelApi& api) { return remote_of(api) != nullptr; }
/// True when it starts from the benchmark's known kernels: they are then part of a run, and of the keys of its tasks.
bool needs_known_kernels(const ModelApi& api);
/// Files that the model reads, by their path in RUN/inputs.
std::map<std::string, std::filesystem::path> api_input_files(const ModelApi& api);
/// What decides results, for the key of a (cell, task); names without "models.NAME.". Where a server lies and its key
/// are not among them.
std::vector<KeyField> api_key_fields(const ModelApi& api);

/// Reads models.NAME.api and the keys that belong to it. Makes all keys of an api that is not known known: one mistake,
/// one problem.
/// @param model NAME
ModelApi read_api(Fields& fields, const Folders& folders, const std::string& model);
/// `api` and its own keys, but for `key`, which stands further on.
void write_api(const ModelApi& api, FlowMap& map);
void write_key(const ModelApi& api, FlowMap& map);

}  // namespace nkigrid::jobs
