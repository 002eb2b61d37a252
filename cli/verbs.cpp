#include "cli/verb.hpp"

namespace nkigrid::cli {

std::vector<Verb> all_verbs(ProgramArguments arguments) {
  return {
      check_verb(),
      plan_verb(),
      run_verb(arguments),
      submit_verb(),
      status_verb(),
      runs_verb(),
      resume_verb(arguments),
      cancel_verb(),
      tables_verb(),
      figures_verb(),
      report_verb(),
      bench_verb(),
      kernel_verb(),
      export_verb(),
      seal_verb(),
      reread_verb(),
      reverify_verb(arguments),
      serve_verb(),
      tend_verb(),
      show_verb(),
      log_verb(),
      audit_verb(),
      doctor_verb(arguments),
      completion_verb(),
  };
}

}  // namespace nkigrid::cli
