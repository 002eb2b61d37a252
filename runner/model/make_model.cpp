#include "runner/model/client.hpp"
#include "runner/model/key.hpp"
#include "runner/model/model.hpp"
#include "runner/model/replay.hpp"
#include "runner/model/synthetic/model.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {
namespace {

/// By model; each with the mask of all.
std::map<std::string, ApiKey> read_keys(const std::vector<jobs::ModelSpec>& specs, const TakenKeys& taken) {
  std::map<std::string, ApiKey> keys;
  KeyMask all;
  for (const auto& spec : specs) {
    if (!has_endpoint(spec.api)) continue;
    keys[spec.name] = read_keys_of(spec.api, taken);
    all.add(keys[spec.name].mask);
  }
  for (auto& [name, key] : keys) key.mask = all;
  return keys;
}

}  // namespace

std::map<std::string, std::unique_ptr<ChatModel>> make_models(const std::vector<jobs::ModelSpec>& specs,
                                                              const jobs::Benchmark& benchmark,
                                                              const std::filesystem::path& profiles, Permits& permits,
                                                              const std::map<std::string, std::string>& taken) {
  auto keys = read_keys(specs, taken);
  std::map<std::string, std::unique_ptr<ChatModel>> models;
  for (const auto& spec : specs) {
    auto* limit = spec.concurrency > 0 ? &permits : nullptr;
    std::visit(
        [&](const auto& api) {
          using Api = std::decay_t<decltype(api)>;
          if constexpr (requires { api.remote; })
            models[spec.name] = std::make_unique<ChatClient>(spec, wire_of(api), std::move(keys[spec.name]), &permits);
          else if constexpr (std::is_same_v<Api, jobs::Replay>)
            models[spec.name] = make_replay(spec, api);
          else
            models[spec.name] = make_synthetic(spec, api, benchmark, profiles, limit);
        },
        spec.api);
  }
  return models;
}

}  // namespace nkigrid::model
