#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/device/device.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/records.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::agent {

/// Everything one attempt of one episode needs. References outlive the call.
struct EpisodeJob {
  log::AttemptId id;
  const jobs::Grid& grid;
  const jobs::ModelSpec& model;
  const jobs::ModeSpec& mode;
  const jobs::PromptSpec& prompt;
  const jobs::Task& task;
  std::vector<log::LoggedTurn> history;  ///< durable turns of earlier attempts; empty for a fresh start
  std::string node;
  std::uint32_t rank = 0;
};

/// Why run_episode() came back without writing an End.
enum class EpisodeExit { ended, drained };

/// Runs one attempt as straight-line, blocking code: begin, then turns, then the final check and end, each made durable
/// through `append` before the next step. When `drain` is set between turns it stops there, without an End: the next
/// attempt continues.
/// @throws Error{io} from append; model::ChatError{fatal} after making the attempt resumable; never for a model's
/// failure.
EpisodeExit run_episode(const EpisodeJob& job, model::ChatModel& model, device::Device& device,
                        const std::function<void(const log::Record&)>& append, const Clock& clock,
                        std::stop_token drain);

/// The messages of an episode's first request: the system message (the prompt file) and the harness's task message.
std::vector<model::Message> first_messages(const jobs::Task& task, const jobs::PromptSpec& prompt,
                                           const jobs::ModeSpec& mode);

/// compile_kernel and verify_kernel as the kernel interface defines them.
std::vector<model::ToolSpec> tool_specs();

}  // namespace nkigrid::agent
