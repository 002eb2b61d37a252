#include "runner/device/sim/backend.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/device/shared/output_fault.hpp"
#include "runner/device/sim/compiler.hpp"
#include "runner/device/sim/fork_servers.hpp"
#include "runner/device/sim/session.hpp"
#include "runner/nkisim/estimate/kernel_profile.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::device {
namespace {

std::vector<jobs::TensorSpec> outputs_of(const nkisim::Program& program) {
  std::vector<jobs::TensorSpec> outputs;
  for (const auto place : program.outputs) {
    const auto& buffer = program.buffers.at(place);
    outputs.push_back({"", buffer.shape, std::string(nkisim::to_string(buffer.dtype)), ""});
  }
  return outputs;
}

/// An artifact that must not run: its outputs would not fit the memory made for the task's.
class MisfitSession final : public Session {
 public:
  explicit MisfitSession(std::string fault) {
    report_.code = Code::wrong_output_shape_dtype, report_.message = std::move(fault);
  }
  RunOutcome run(const TensorFile&, std::size_t, const Poison&, Seconds) override { return run_reported(report_); }
  std::span<const std::byte> output(std::size_t, std::size_t) const override { return {}; }

 private:
  RunReport report_;
};

class SimBackend final : public Backend {
 public:
  SimBackend(jobs::NkiOptions options, std::shared_ptr<ForkServers> servers)
      : options_(std::move(options)), servers_(std::move(servers)) {
    servers_->wait_ready();
  }

  CompileAttempt compile(const jobs::Task& task, const std::string& source, const std::optional<std::string>& entry,
                         Seconds timeout) override {
    return compile_for_simulator(*servers_, options_, task, source, entry, timeout);
  }

  std::unique_ptr<Session> open(const jobs::Task& task, const Artifact& artifact) override {
    if (auto fault = output_fault(outputs_of(nkisim::parse_program(artifact.bytes)), task); !fault.empty())
      return std::make_unique<MisfitSession>(std::move(fault));
    return std::make_unique<SimSession>(*servers_, pool_, task, artifact.bytes);
  }

  std::optional<std::string> profile(const Artifact& artifact) override {
    return nkisim::profile_text(nkisim::profile_kernel(artifact.bytes));
  }

  /// Somebody may have stopped a server, or starved it.
  bool may_be_at_fault() const override { return true; }
  std::string name() const override { return "sim"; }
  std::string compiler() const override { return options_.sdk + "+nkisim"; }

 private:
  jobs::NkiOptions options_;
  std::shared_ptr<ForkServers> servers_;
  OutputPool pool_;
};

}  // namespace

std::shared_ptr<BackendServers> start_backend_servers(const jobs::SimSpec&, const jobs::CheckSpec& check,
                                                      const DevicePaths& paths, std::uint32_t lanes) {
  return std::make_shared<ForkServers>(paths, check, lanes);
}

std::unique_ptr<Backend> make_backend(const jobs::SimSpec&, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers> servers) {
  const auto& target = setup.options.target;
  if (target != "trn1") {
    throw Error(ErrorCode::config,
                fmt::format("device target '{}' is not simulated (there is: trn1); set device.target to trn1", target));
  }
  auto own = std::dynamic_pointer_cast<ForkServers>(std::move(servers));
  if (own == nullptr) throw Error(ErrorCode::internal, "the simulator's servers were not started");
  return std::make_unique<SimBackend>(setup.options, std::move(own));
}

}  // namespace nkigrid::device
