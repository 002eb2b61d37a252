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
#include "jobs/grid/remote.hpp"
#include "jobs/grid/server.hpp"

namespace nkigrid::jobs {

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

/// What OpenAI, vLLM, `nkigrid serve` and most other servers speak.
struct OpenAi {
  static constexpr std::string_view kName = "openai";
  static constexpr std::array<std::string_view, 7> kKeys = {"endpoint", "model", "key",   "body",
                                                            "headers",  "form",  "server"};
  /// Which of its interfaces: some models have the newer alone.
  enum class Form { chat, responses };

  Remote remote;
  Form form = Form::chat;
  std::optional<ServerSpec> server;  ///< started by us; `remote.endpoint` then leads to whichever replica works
  std::string server_of;  ///< the model whose server it asks: itself, or the one that `server` names; "": none
};

/// Anthropic's Messages.
struct Anthropic {
  static constexpr std::string_view kName = "anthropic";
  static constexpr std::string_view kUsualEndpoint = "https://api.anthropic.com/v1";
  static constexpr std::array<std::string_view, 6> kKeys = {"endpoint", "model",   "key",
                                                            "body",     "headers", "prompt_cache"};

  Remote remote;
  bool prompt_cache = true;  ///< mark what the next turn begins with, so that it is read at the price of a cache
};

/// Converse of Amazon Bedrock.
struct Bedrock {
  static constexpr std::string_view kName = "bedrock";
  static constexpr std::array<std::string_view, 8> kKeys = {"endpoint", "model",  "key",     "body",
                                                            "headers",  "region", "account", "prompt_cache"};

  Remote remote;        ///< `key` is a bearer key; without one requests are signed
  std::string region;   ///< e.g. us-west-2
  std::string account;  ///< a profile of ~/.aws; "": what the environment says, else `default`
  bool prompt_cache = false;
};

/// Answers of an earlier run's log, for the same episodes: the same bytes, at no cost.
struct Replay {
  static constexpr std::string_view kName = "replay";
  static constexpr std::array<std::string_view, 3> kKeys = {"run", "model", "run_hash"};

  std::filesystem::path run;  ///< RUN of the earlier run
  std::string model;          ///< its name there; default: the model's name here
  std::string run_hash;       ///< SHA-256 (hex) of RUN/grid.yaml at freezing: a frozen run is read where RUN is gone
};

/// The table of apis. Whoever asks which api a model has asks a function below what follows from it.
using ModelApi = std::variant<Synthetic, OpenAi, Anthropic, Bedrock, Replay>;

std::string_view name_of(const ModelApi& api);
/// The server behind the model; null when it runs in this process.
const Remote* remote_of(const ModelApi& api);
inline bool has_endpoint(const ModelApi& api) { return remote_of(api) != nullptr; }
/// The server that is started for this model; null where it has none of its own.
const ServerSpec* own_server(const ModelApi& api);
/// The name of the model whose server it asks, which may be another's; "" for an endpoint that nobody starts.
std::string kept_server_of(const ModelApi& api);
/// Lets a model ask another's server. @param owner an api with a server of its own
void share_server(ModelApi& api, const ModelApi& owner);
/// True when it starts from the benchmark's known kernels: they are then part of a run, and of the keys of its tasks.
bool needs_known_kernels(const ModelApi& api);
/// Files that the model reads, by their path in RUN/inputs.
std::map<std::string, std::filesystem::path> api_input_files(const ModelApi& api);
/// What decides results, for the key of a (cell, task); names without "models.NAME.". Where a server lies and its key
/// are not among them.
std::vector<KeyField> api_key_fields(const ModelApi& api);

/// Names of the apis with an endpoint.
std::vector<std::string> endpoint_api_names();

/// Where a model's secrets come from: its key and those of its headers.
std::vector<KeySource> key_sources(const ModelApi& api);
/// Reads models.NAME.api and the keys that belong to it. Makes all keys of an api that is not known known: one mistake,
/// one problem.
/// @param model NAME
ModelApi read_api(Fields& fields, const Folders& folders, const std::string& model);
/// `api` and its own keys, but for `key`, which stands further on.
void write_api(const ModelApi& api, FlowMap& map);
void write_key(const ModelApi& api, FlowMap& map);

}  // namespace nkigrid::jobs
