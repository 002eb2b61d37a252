#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/version.hpp"

namespace nkigrid::cli {
namespace {

ExitCode report(const Error& error) {
  notice("{}", error.what());
  return exit_code(error.code());
}

ExitCode report(const std::filesystem::filesystem_error& error) {
  return report(Error(ErrorCode::io, fmt::format("cannot use '{}' ({}); look at what it is and at its rights",
                                                 error.path1().native(), error.code().message())));
}

/// What was printed must have arrived: a full disk or a broken device behind stdout is an I/O error.
ExitCode finished(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return code;  // the reader has seen enough
  return report(Error(ErrorCode::io, "cannot write to standard output; look at the disk or the pipe behind it"));
}

ExitCode run_program(ProgramArguments arguments) {
  CLI::App app("Measures how well language models write kernels for AWS Trainium: grids, logs, tables.", "nkigrid");
  app.set_version_flag("--version", std::string("nkigrid ") + kVersion);
  app.set_help_all_flag("--help-all", "prints the pages of all verbs");
  app.require_subcommand(1);
  const auto verbs = all_verbs(arguments);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const auto& verb : verbs) {
    auto* sub = app.add_subcommand(verb.name, verb.help);
    sub->set_help_all_flag();  // of the program alone
    sub->set_version_flag("--version", std::string("nkigrid ") + kVersion);
    actions.emplace_back(sub, verb.declare(*sub));
  }
  lay_out_help(app);
  try {
    app.parse(*arguments.argc, *arguments.argv);
  } catch (const CLI::CallForHelp&) {
    return fmt::print("{}", app.help()), ExitCode::done;  // of the verb, where one was named
  } catch (const CLI::CallForAllHelp&) {
    return fmt::print("{}", app.help("", CLI::AppFormatMode::All)), ExitCode::done;
  } catch (const CLI::CallForVersion&) {
    return fmt::print("nkigrid {}\n", kVersion), ExitCode::done;
  } catch (const CLI::ParseError& error) {
    return report(Error(ErrorCode::usage, usage_problem(app, error, *arguments.argc, *arguments.argv)));
  }
  for (const auto& [sub, action] : actions) {
    if (sub->parsed()) return action();
  }
  return ExitCode::usage;
}

}  // namespace
}  // namespace nkigrid::cli

int main(int argc, char** argv) {
  auto code = nkigrid::ExitCode::internal;
  nkigrid::file_mask();  // while there is one thread: to read it is to change it
  try {
    code = nkigrid::cli::finished(nkigrid::cli::run_program({&argc, &argv}));
  } catch (const nkigrid::Error& error) {
    code = nkigrid::cli::report(error);
  } catch (const std::filesystem::filesystem_error& error) {
    // A folder that may not be entered, links that lead in a circle: what a run or a tree may have, and no fault of
    // ours.
    code = nkigrid::cli::report(error);
  } catch (const std::exception& error) {
    nkigrid::notice("internal error: {}; please report it", error.what());
  }
  return static_cast<int>(code);
}
