#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::cli {
namespace {

struct CompletionOptions {
  std::string shell, output;
};

/// A line a verb, `log check` after `log`: what may follow it. Options where the word begins with a dash, else verbs
/// below it, else files.
std::string bash_cases(const CLI::App& verb, const std::string& path) {
  std::vector<std::string> verbs;
  for (const auto* below : verbs_below(verb)) verbs.push_back(below->get_name());
  auto text = fmt::format("    \"{}\") options=\"{}\" verbs=\"{}\" ;;\n", path, fmt::join(options_of(verb), " "),
                          fmt::join(verbs, " "));
  for (const auto* below : verbs_below(verb))
    text += bash_cases(*below, path.empty() ? below->get_name() : path + " " + below->get_name());
  return text;
}

std::string bash_script(const CLI::App& app) {
  return "# bash completion of nkigrid; `nkigrid completion bash` writes it\n"
         "_nkigrid() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} path= options= verbs= next i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    next=\"${path:+$path }${COMP_WORDS[i]}\"\n"
         "    case \" $(_nkigrid_paths) \" in *\"|$next|\"*) path=$next ;; esac\n"
         "  done\n"
         "  case \"$path\" in\n" +
         bash_cases(app, "") +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ -n $verbs ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
         "  fi\n"
         "}\n";
}

/// "|check|log|log check|": the verbs as the words that lead to them.
std::string paths_below(const CLI::App& verb, const std::string& path) {
  std::string text;
  for (const auto* below : verbs_below(verb)) {
    const auto at = path.empty() ? below->get_name() : path + " " + below->get_name();
    text += at + "|" + paths_below(*below, at);
  }
  return text;
}

std::string bash_completion(const CLI::App& app) {
  return bash_script(app) + "_nkigrid_paths() { echo '|" + paths_below(app, "") +
         "'; }\n"
         "complete -o default -F _nkigrid nkigrid\n";
}

/// A description inside of single quotes and brackets.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') safe += '\\';
    if (c == '\'')
      safe += "'\\''";
    else
      safe += c;
  }
  return safe;
}

/// A function a verb, which calls those below it.
std::string zsh_functions(const CLI::App& verb, const std::string& function) {
  const auto below = verbs_below(verb);
  std::string text, list, cases;
  for (const auto* sub : below) {
    const auto name = function + "_" + sub->get_name();
    text += zsh_functions(*sub, name);
    list += fmt::format("    '{}:{}'\n", sub->get_name(), zsh_text(sub->get_description()));
    cases += fmt::format("      {}) {} ;;\n", sub->get_name(), name);
  }
  text += fmt::format("{}() {{\n", function);
  if (!below.empty()) text += fmt::format("  local line state\n  local -a verbs=(\n{}  )\n", list);
  text += below.empty() ? "  _arguments" : "  _arguments -C";
  for (const auto* option : verb.get_options()) {
    for (const auto& name : option->get_lnames())
      text +=
          fmt::format(" \\\n    '--{}[{}]{}'", name, zsh_text(option->get_description()),
                      option->get_items_expected_max() > 0 ? fmt::format(":{}:_files", option->get_type_name()) : "");
  }
  if (below.empty()) return text + " \\\n    '*:file:_files'\n}\n";
  return text +
         " \\\n    '1:verb:->verb' '*::argument:->below'\n  case $state in\n    verb) _describe verb verbs ;;\n" +
         "    below) case $line[1] in\n" + cases + "    esac ;;\n  esac\n}\n";
}

std::string zsh_completion(const CLI::App& app) {
  return "#compdef nkigrid\n# zsh completion of nkigrid; `nkigrid completion zsh` writes it\n" +
         zsh_functions(app, "_nkigrid") + "_nkigrid \"$@\"\n";
}

ExitCode completion(const CLI::App& app, const CompletionOptions& options) {
  const std::vector<std::string> shells{"bash", "zsh"};
  std::string text;
  if (options.shell == "bash")
    text = bash_completion(app);
  else if (options.shell == "zsh")
    text = zsh_completion(app);
  else
    throw Error(ErrorCode::usage, fmt::format("unknown shell '{}' (legal: bash, zsh){}; name one of these",
                                              options.shell, did_you_mean(options.shell, shells)));
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file_atomic(options.output, text);
  return ExitCode::done;
}

}  // namespace

Verb completion_verb() {
  return {"completion", "writes what a shell needs to complete verbs and options", [](CLI::App& app) -> Action {
            auto options = std::make_shared<CompletionOptions>();
            app.add_option("shell", options->shell,
                           "bash: source <(nkigrid completion bash); zsh: a file _nkigrid in $fpath")
                ->required()
                ->type_name("bash|zsh");
            app.add_option("-o,--output", options->output, "a file instead of standard output")->type_name("FILE");
            return [options, &app] { return completion(*app.get_parent(), *options); };
          }};
}

}  // namespace nkigrid::cli
