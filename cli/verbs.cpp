#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/verb.hpp"
#include "jobs/base/error.hpp"

namespace nkigrid::cli {

Verb absent_verb(std::string name, std::string help, std::string what_to_do) {
  return {name, help + " (not in this version)", [name, what_to_do](CLI::App& app) -> Action {
            app.allow_extras();
            app.group("");  // not in the list of verbs: who asks for it by name is told
            return [name, what_to_do]() -> ExitCode {
              throw Error(ErrorCode::usage, fmt::format("`{}` is not in this version; {}", name, what_to_do));
            };
          }};
}

std::vector<Verb> all_verbs(ProgramArguments arguments) {
  return {
      check_verb(),
      plan_verb(),
      run_verb(arguments),
      submit_verb(),
      status_verb(),
      resume_verb(arguments),
      cancel_verb(),
      tables_verb(),
      bench_verb(),
      kernel_verb(),
      export_verb(),
      seal_verb(),
      reread_verb(),
      serve_verb(),
      show_verb(),
      log_verb(),
      audit_verb(),
      doctor_verb(arguments),
      completion_verb(),
      absent_verb("figures", "draws a run's figures", "`tables RUN --format csv` holds the numbers"),
      absent_verb("report", "writes a run's HTML report", "`tables RUN` and `show RUN EPISODE` print its parts"),
      absent_verb("reverify", "checks a run's kernels anew on another device",
                  "`kernel FILE --task ID` checks one kernel"),
  };
}

}  // namespace nkigrid::cli
