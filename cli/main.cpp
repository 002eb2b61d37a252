#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/version.hpp"

namespace nkigrid::cli {
namespace {

/// The words of the command line that name no verb or option: CLI11 would only say "not expected".
std::string spelling_hint(const CLI::App& app, const std::vector<Verb>& verbs, int argc, char** argv) {
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.push_back(verb.name);
  if (argc < 2) return {};
  const std::string first = argv[1];
  if (!first.empty() && first[0] != '-' && std::find(names.begin(), names.end(), first) == names.end()) {
    return fmt::format("unknown verb '{}'{}; `nkigrid --help` lists the verbs", first, did_you_mean(first, names));
  }
  for (const auto* verb : app.get_subcommands()) {
    std::vector<std::string> options;
    for (const auto* option : verb->get_options()) {
      for (const auto& name : option->get_lnames()) options.push_back("--" + name);
    }
    for (int i = 2; i < argc; ++i) {
      const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
      if (word.rfind("--", 0) == 0 && std::find(options.begin(), options.end(), word) == options.end()) {
        return fmt::format("unknown option '{}' of {}{}; `nkigrid {} --help` lists the options", word, verb->get_name(),
                           did_you_mean(word, options), verb->get_name());
      }
    }
  }
  return {};
}

ExitCode report(const Error& error) {
  notice("{}", error.what());
  return exit_code(error.code());
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
  app.require_subcommand(1);
  const auto verbs = all_verbs(arguments);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const auto& verb : verbs) {
    auto* sub = app.add_subcommand(verb.name, verb.help);
    sub->set_version_flag("--version", std::string("nkigrid ") + kVersion);
    actions.emplace_back(sub, verb.declare(*sub));
  }
  try {
    app.parse(*arguments.argc, *arguments.argv);
  } catch (const CLI::CallForHelp&) {
    return fmt::print("{}", app.help()), ExitCode::done;  // of the verb, where one was named
  } catch (const CLI::CallForVersion&) {
    return fmt::print("nkigrid {}\n", kVersion), ExitCode::done;
  } catch (const CLI::ParseError& error) {
    const auto hint = spelling_hint(app, verbs, *arguments.argc, *arguments.argv);
    std::string text = hint.empty() ? std::string(error.what()) : hint;
    return report(Error(ErrorCode::usage, hint.empty() ? fmt::format("{}; see `nkigrid --help`", text) : text));
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
  } catch (const std::exception& error) {
    nkigrid::notice("internal error: {}; please report it", error.what());
  }
  return static_cast<int>(code);
}
