#include "runner/model/synthetic/model.hpp"

#include <algorithm>

#include <fmt/format.h>

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

}  // namespace

std::unique_ptr<ChatModel> make_synthetic(const jobs::ModelSpec& spec, const jobs::Synthetic& api,
                                          const jobs::Benchmark& benchmark, const std::filesystem::path& profiles,
                                          Permits* permits) {
  bool any = false;
  for (const jobs::Task& task : benchmark.tasks) any = any || !benchmark.known_kernel(task.id).empty();
  if (!any) {
    throw Error(ErrorCode::config,
                fmt::format("model '{}' is synthetic, and benchmark '{}' has no known kernels; add kernels/<id>.py",
                            spec.name, benchmark.name));
  }
  return std::make_unique<SyntheticModel>(spec.name, load_profile(profiles, api.profile), benchmark, permits);
}

}  // namespace nkigrid::model
