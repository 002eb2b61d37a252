#include <fmt/format.h>

#include "runner/model/key.hpp"
#include "runner/model/model.hpp"
#include "runner/model/openai.hpp"
#include "runner/model/permit.hpp"
#include "runner/model/synthetic/profile.hpp"
#include "runner/model/synthetic/synthetic.hpp"

namespace nkigrid::model {
namespace {

class SyntheticModel final : public ChatModel {
 public:
  SyntheticModel(std::string name, Profile profile, const jobs::Benchmark& benchmark, Permits* permits)
      : name_(std::move(name)), profile_(std::move(profile)), benchmark_(benchmark), permits_(permits) {}

  ChatReply complete(const ChatRequest& request, std::stop_token stop) override {
    const PermitLease lease(permits_, name_, stop);
    return synthetic_reply(profile_, benchmark_, request);
  }

 private:
  std::string name_;
  Profile profile_;
  jobs::Benchmark benchmark_;
  Permits* permits_;
};

std::unique_ptr<ChatModel> make_synthetic(const jobs::ModelSpec& spec, const jobs::Benchmark& benchmark,
                                          const std::filesystem::path& profiles, Permits* permits) {
  const std::string name = spec.profile.empty() ? spec.name : spec.profile;
  bool any = false;
  for (const jobs::Task& task : benchmark.tasks) any = any || !benchmark.known_kernel(task.id).empty();
  if (!any) {
    throw Error(ErrorCode::config,
                fmt::format("model '{}' is synthetic, and benchmark '{}' has no known kernels; add kernels/<id>.py",
                            spec.name, benchmark.name));
  }
  return std::make_unique<SyntheticModel>(spec.name, load_profile(profiles, name), benchmark, permits);
}

}  // namespace

std::unique_ptr<ChatModel> make_model(const jobs::ModelSpec& spec, const jobs::Benchmark& benchmark,
                                      const std::filesystem::path& profiles, Permits* permits) {
  if (spec.api == "synthetic") return make_synthetic(spec, benchmark, profiles, permits);
  if (spec.api == "openai") {
    if (spec.endpoint.empty()) {
      throw Error(
          ErrorCode::config,
          fmt::format("models.{}.endpoint is missing (api openai needs one, e.g. http://gpu01:8000/v1)", spec.name));
    }
    return std::make_unique<OpenAiModel>(spec, read_key(spec.key), permits);
  }
  const bool planned = spec.api == "anthropic" || spec.api == "bedrock" || spec.api == "replay";
  throw Error(ErrorCode::config, fmt::format("models.{}.api '{}' {} (legal: synthetic, openai); {}", spec.name,
                                             spec.api, planned ? "does not exist yet" : "is unknown",
                                             planned ? "use an OpenAI-compatible endpoint for now" : "correct it"));
}

}  // namespace nkigrid::model
