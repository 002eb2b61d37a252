#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/log/history.hpp"
#include "runner/log/records.hpp"

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

}  // namespace nkigrid::agent
