#pragma once

#include "jobs/base/files.hpp"
#include "tests/aggregate/made_run.hpp"

namespace nkigrid::test {

/// A log by hand: every turn is 100 tokens in, 20 out, 0.001 USD, 0.5 s.
struct LoggedRun {
  TemporaryDirectory folder;
  jobs::Run run;
  log::Ledger ledger;

  explicit LoggedRun(const std::function<std::optional<Ended>(const EpisodeId&)>& how) {
    run = made_run({"m.ss.p", "m.agent.p"}, made_tasks("L1", 20), 2, [](const auto&) { return std::nullopt; }).run;
    run.folder = folder.path();
    write_log(run.log_folder(), "one", run.plan, how);
    ledger = log::read_ledger(run);
  }
};

// The agent takes three turns and passes 12 of 20 tasks; single shot passes 8.
inline std::optional<Ended> usual_end(const EpisodeId& id) {
  const bool agent = id.cell == "m.agent.p";
  const bool pass = number_of(id) < (agent ? 12 : 8);
  return Ended{
      .outcome = pass ? Outcome::pass : Outcome::compile_fail, .turns = agent ? 3u : 1u, .code = Code::partition_limit};
}

}  // namespace nkigrid::test
