#include "runner/device/sim/backend.hpp"

#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/error.hpp"
#include "runner/device/sim/compiler.hpp"
#include "runner/device/sim/session.hpp"
#include "runner/nkisim/program/program.hpp"

namespace nkigrid::device {
namespace {

/// What is wrong with the program's outputs as the task sees them, or "".
std::string output_fault(const nkisim::Program& program, const jobs::Task& task) {
  if (program.outputs.size() != task.outputs.size()) {
    return fmt::format("the kernel returns {} tensors, the task has {} outputs", program.outputs.size(),
                       task.outputs.size());
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const auto& got = program.buffers.at(program.outputs[i]);
    const auto& want = task.outputs[i];
    if (got.shape == want.shape && nkisim::to_string(got.dtype) == want.dtype) continue;
    return fmt::format("output {} is [{}] {}, the task wants [{}] {}", i, fmt::join(got.shape, ", "),
                       nkisim::to_string(got.dtype), fmt::join(want.shape, ", "), want.dtype);
  }
  return {};
}

/// An artifact that must not run: its outputs would not fit the memory made for the task's.
class MisfitSession final : public Session {
 public:
  explicit MisfitSession(std::string fault) {
    report_.code = Code::wrong_output_shape_dtype, report_.message = std::move(fault);
  }
  RunOutcome run(const TensorFile&, std::size_t, const nkisim::Poison&, Seconds) override {
    return {RunOutcome::Kind::ran, report_, {}};
  }
  std::span<const std::byte> output(std::size_t, std::size_t) const override { return {}; }

 private:
  nkisim::RunReport report_;
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
    if (auto fault = output_fault(nkisim::parse_program(artifact.bytes), task); !fault.empty())
      return std::make_unique<MisfitSession>(std::move(fault));
    std::vector<std::size_t> sizes;
    for (const auto& output : task.outputs) sizes.push_back(bytes_of(output));
    return std::make_unique<SimSession>(*servers_, pool_, artifact.bytes, layout_of(sizes));
  }

  std::string name() const override { return "sim"; }
  std::string compiler() const override { return options_.sdk + "+nkisim"; }

 private:
  jobs::NkiOptions options_;
  std::shared_ptr<ForkServers> servers_;
  OutputPool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_sim_backend(const jobs::NkiOptions& options, std::shared_ptr<ForkServers> servers) {
  if (options.target != "trn1") {
    throw Error(
        ErrorCode::config,
        fmt::format("device target '{}' is not simulated (there is: trn1); set device.target to trn1", options.target));
  }
  return std::make_unique<SimBackend>(options, std::move(servers));
}

}  // namespace nkigrid::device
