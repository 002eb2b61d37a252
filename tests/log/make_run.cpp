// make_run GRID RUN [later]: freezes GRID and writes a log by hand, for test_log_verbs.py.
// Of each six episodes four are scored (the first passes), one ended in api_error and one was killed after an
// unanswered reply. With `later` a second journal has attempt 2 of those that did not pass: the failed ones of a
// zombie fail again, those that ended in api_error pass.
#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "tests/log/make_log.hpp"

int main(int argc, char** argv) {
  using namespace nkigrid;
  if (argc != 3 && argc != 4) return 2;
  try {
    const auto grid = jobs::load_grid(argv[1], jobs::configs_folder());
    const auto run = jobs::freeze_run(grid, jobs::load_benchmark(grid.benchmark), argv[2]);
    // Hands write without a key, and tests change what they wrote: the log is an unverified one.
    test::take_log_key(run.folder);
    auto header = test::made_header();
    header.run_id = run.run_id;
    int n = -1;
    test::write_log(
        run.log_folder(), "made", run.plan,
        [&](const EpisodeId&) -> std::optional<test::Ended> {
          switch (++n % 6) {
            case 0:
              return test::Ended{.outcome = Outcome::pass, .turns = 2};
            case 4:
              return test::Ended{.outcome = Outcome::api_error, .turns = 1, .reason = "529, \"overloaded\""};
            case 5:
              return std::nullopt;
            default:
              return test::Ended{
                  .outcome = Outcome::mismatch, .turns = 1, .code = Code::numeric_mismatch, .stage = Stage::verify};
          }
        },
        header);
    log::Journal killed(run.log_folder(), "killed", header);
    for (std::size_t i = 5; i < run.plan.episodes.size(); i += 6) {
      const auto& planned = run.plan.episodes[i];
      const log::AttemptId id{run.plan.id_of(planned), run.plan.key(planned.cell, planned.task), 1};
      const std::vector<log::Record> records = {log::Begin{.id = id, .node = "node1"},
                                                log::Reply{.id = id, .reply = "a, \"b\"\nc", .tokens_in = 7}};
      killed.append(records);
    }
    killed.close();
    n = -1;
    if (argc == 4) {
      test::write_log(
          run.log_folder(), "later", run.plan,
          [&](const EpisodeId&) -> std::optional<test::Ended> {
            switch (++n % 6) {
              case 1:
                return test::Ended{.outcome = Outcome::compile_fail, .attempt = 2, .turns = 1};
              case 4:
                return test::Ended{.outcome = Outcome::pass, .attempt = 2, .turns = 3};
              default:
                return std::nullopt;
            }
          },
          header);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(exit_code(error.code()));
  }
}
