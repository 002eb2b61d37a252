#include "runner/model/client.hpp"
#include "runner/model/key.hpp"
#include "runner/model/load_http.hpp"
#include "runner/model/model.hpp"
#include "runner/model/replay.hpp"
#include "runner/model/servers/kept_http.hpp"
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

const SystemClock kClock;

/// The client of a model: its own, or one that finds the server that is kept for it. Models of one server share what is
/// known of its replicas.
class HttpClients {
 public:
  HttpClients(const std::vector<jobs::ModelSpec>& specs, const ServerPlaces& places) {
    for (const auto& spec : specs) {
      if (const auto* server = own_server(spec.api))
        replicas_[spec.name] = std::make_shared<Replicas>(places, jobs::KeptServer{spec.name, server}, kClock);
    }
  }
  std::unique_ptr<HttpClient> client_of(const jobs::ModelApi& api) const {
    const auto name = kept_server_of(api);
    if (name.empty()) return make_http_client();
    return make_kept_http(make_http_client(), replicas_.at(name), jobs::kept_server_url(name));
  }

 private:
  std::map<std::string, std::shared_ptr<Replicas>> replicas_;  ///< by server
};

}  // namespace

std::map<std::string, std::unique_ptr<ChatModel>> make_models(const std::vector<jobs::ModelSpec>& specs,
                                                              const jobs::Benchmark& benchmark,
                                                              const std::filesystem::path& profiles, Permits& permits,
                                                              const std::map<std::string, std::string>& taken,
                                                              const ServerPlaces& servers) {
  auto keys = read_keys(specs, taken);
  const HttpClients clients(specs, servers);
  std::map<std::string, std::unique_ptr<ChatModel>> models;
  for (const auto& spec : specs) {
    auto* limit = spec.concurrency > 0 ? &permits : nullptr;
    std::visit(
        [&](const auto& api) {
          using Api = std::decay_t<decltype(api)>;
          if constexpr (requires { api.remote; })
            models[spec.name] = std::make_unique<ChatClient>(spec, wire_of(api), std::move(keys[spec.name]), &permits,
                                                             ClientTuning{}, clients.client_of(spec.api));
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
