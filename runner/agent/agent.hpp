#pragma once

#include <functional>
#include <stop_token>

#include "jobs/base/clock.hpp"
#include "runner/agent/episode.hpp"
#include "runner/device/device.hpp"
#include "runner/log/records.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::agent {

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

}  // namespace nkigrid::agent
