#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jobs/base/error.hpp"

namespace CLI {
class App;
}

namespace nkigrid::cli {

/// Runs a parsed verb. @returns the exit code; errors are thrown and mapped by main.
using Action = std::function<ExitCode()>;

/// One verb of the command line. `declare` adds options to `app`, does no work, and returns what to run after parsing
/// (option values live in what the action holds on to).
struct Verb {
  std::string name;
  std::string help;  ///< one line
  std::function<Action(CLI::App& app)> declare;
};

/// argc, argv as main got them: MPI_Init wants them.
struct ProgramArguments {
  int* argc = nullptr;
  char*** argv = nullptr;
};

/// Every verb in the order of `--help`.
std::vector<Verb> all_verbs(ProgramArguments arguments);

// One file a verb: cli/<name>.cpp defines it, cli/verbs.cpp lists it.
Verb check_verb();
Verb plan_verb();
Verb run_verb(ProgramArguments arguments);
Verb submit_verb();
Verb status_verb();
Verb runs_verb();
Verb resume_verb(ProgramArguments arguments);
Verb cancel_verb();
Verb tables_verb();
Verb figures_verb();
Verb report_verb();
Verb show_verb();
Verb export_verb();
Verb seal_verb();
Verb reread_verb();
Verb reverify_verb(ProgramArguments arguments);
Verb log_verb();
Verb kernel_verb();
Verb audit_verb();
Verb bench_verb();
Verb serve_verb();
Verb tend_verb();
Verb doctor_verb(ProgramArguments arguments);
Verb completion_verb();

}  // namespace nkigrid::cli
