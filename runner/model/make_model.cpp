#include "runner/model/client.hpp"
#include "runner/model/key.hpp"
#include "runner/model/model.hpp"
#include "runner/model/synthetic/model.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

std::unique_ptr<ChatModel> make_model(const jobs::ModelSpec& spec, const jobs::Benchmark& benchmark,
                                      const std::filesystem::path& profiles, Permits* permits) {
  return std::visit(
      [&](const auto& api) -> std::unique_ptr<ChatModel> {
        if constexpr (requires { api.remote; }) {
          return std::make_unique<ChatClient>(spec, wire_of(api), read_key(api.remote.key), permits);
        } else {
          return make_synthetic(spec, api, benchmark, profiles, permits);
        }
      },
      spec.api);
}

}  // namespace nkigrid::model
