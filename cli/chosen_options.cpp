#include "cli/chosen_options.hpp"

#include <CLI/CLI.hpp>

namespace nkigrid::cli {

void add_chosen_options(CLI::App& app, exports::Chosen& chosen) {
  const auto add = [&](const char* name, std::vector<std::string>& list, const char* help, const char* word) {
    app.add_option(name, list, help)->type_name(word)->allow_extra_args(false);
  };
  add("--cell", chosen.cells, "only episodes of this cell; several times, with * and ? (as the next ones)", "C");
  add("--task", chosen.tasks, "only episodes of this task", "ID");
  add("--level", chosen.levels, "only episodes of tasks of this level", "L");
  add("--category", chosen.categories, "only episodes of tasks of this category", "NAME");
  add("--outcome", chosen.outcomes, "only episodes that ended so: pass, mismatch, ..., or outstanding", "WORD");
  add("--code", chosen.codes, "only episodes whose final check failed so: a code, or a group of errors", "CODE");
}

}  // namespace nkigrid::cli
