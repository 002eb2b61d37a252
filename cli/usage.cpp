#include "cli/usage.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/terminal.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"

namespace nkigrid::cli {
namespace {

constexpr std::size_t kPlainColumns = 100;  ///< of a help page that goes into a pipe

class HelpPage final : public CLI::Formatter {
 public:
  HelpPage() {
    if (const auto terminal = terminal_columns(STDOUT_FILENO); terminal > 0)
      columns_ = std::max<std::size_t>(40, terminal);
    column_width(columns_ < 80 ? 20 : 26);
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return entry(verb->get_name(), verb->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), columns_) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? std::string() : "\n" + wrapped(app->get_footer(), columns_) + "\n";
  }

 private:
  std::string entry(const std::string& name, const std::string& description) const {
    const auto indent = get_column_width();
    std::string text = "  " + name;
    if (description.empty()) return text + "\n";
    if (text.size() + 2 > indent)
      text += "\n" + std::string(indent, ' ');
    else
      text.append(indent - text.size(), ' ');
    return text + wrapped(description, columns_, indent, indent) + "\n";
  }

  std::size_t columns_ = kPlainColumns;
};

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : verbs_below(app)) names.push_back(verb->get_name());
  return names;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// The first word that is no verb where one is wanted, or "".
std::string unknown_verb(const CLI::App& verb, int argc, char** argv) {
  if (verb.get_subcommands([](const CLI::App*) { return true; }).empty()) return {};
  int depth = 0;
  for (const auto* above = &verb; above->get_parent() != nullptr; above = above->get_parent()) ++depth;
  for (int i = 1; i < argc; ++i) {
    if (!is_option(argv[i]) && depth-- == 0) return argv[i];
  }
  return {};
}

/// The first long option that `verb` does not have, or "".
std::string unknown_option(const CLI::App& verb, int argc, char** argv) {
  const auto options = options_of(verb);
  for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
    const auto word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.rfind("--", 0) == 0 && std::find(options.begin(), options.end(), word) == options.end()) return word;
  }
  return {};
}

/// The whole word as a finite number; nothing where it is none.
std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

/// "RUN (a frozen run)" for each required word that is not there.
std::vector<std::string> missing_words(const CLI::App& verb) {
  std::vector<std::string> missing;
  for (const auto* option : verb.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const auto name = option->get_positional() ? option->get_type_name()
                                               : fmt::format("{} {}", option->get_name(), option->get_type_name());
    missing.push_back(fmt::format("{} ({})", name, option->get_description()));
  }
  return missing;
}

}  // namespace

std::vector<const CLI::App*> verbs_below(const CLI::App& app) {
  const auto verbs = app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
  return {verbs.begin(), verbs.end()};
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> options;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) options.push_back("--" + name);
  }
  return options;
}

void want_whole(CLI::Option* option, std::uint64_t least, std::uint64_t most) {
  option->type_name("N")->check(CLI::Validator(
      [least, most](std::string& text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
          return std::string();
        return most == UINT64_MAX ? fmt::format("'{}' (a whole number from {} on is wanted)", text, least)
                                  : fmt::format("'{}' (a whole number from {} to {} is wanted)", text, least, most);
      },
      ""));
}

void want_positive(CLI::Option* option) {
  option->type_name("X")->check(CLI::Validator(
      [](std::string& text) {
        const auto value = number_of(text);
        return value && *value > 0 ? std::string() : fmt::format("'{}' (a number above 0 is wanted)", text);
      },
      ""));
}

void want_number(CLI::Option* option, const std::string& name) {
  option->type_name(name)->check(CLI::Validator(
      [](std::string& text) {
        return number_of(text) ? std::string() : fmt::format("'{}' (a number is wanted)", text);
      },
      ""));
}

void lay_out_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpPage>());
  app.get_help_ptr()->description("prints this page");
  for (auto* option : app.get_options()) {
    if (option->get_name() == "--version") option->description("prints the version");
  }
  for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) lay_out_help(*verb);
}

const CLI::App& named_verb(const CLI::App& app, int argc, char** argv) {
  const auto* at = &app;
  for (int i = 1; i < argc; ++i) {
    if (is_option(argv[i])) continue;
    const auto below = at->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == argv[i]; });
    if (below.empty()) break;
    at = below.front();
  }
  return *at;
}

std::string command_of(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : command_of(*verb.get_parent()) + " " + verb.get_name();
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const auto& verb = named_verb(app, argc, argv);
  const auto command = command_of(verb);
  const auto of_verb = verb.get_parent() == nullptr ? std::string() : fmt::format(" of `{}`", command);
  if (const auto word = unknown_verb(verb, argc, argv); !word.empty())
    return fmt::format("unknown verb '{}'{}{}; `{} --help` lists the verbs", word, of_verb,
                       did_you_mean(word, names_below(verb)), command);
  if (const auto word = unknown_option(verb, argc, argv); !word.empty())
    return fmt::format("unknown option '{}'{}{}; `{} --help` lists the options", word, of_verb,
                       did_you_mean(word, options_of(verb)), command);
  if (const auto names = names_below(verb); !names.empty())
    return fmt::format("`{}` wants a verb ({}); see `{} --help`", command, fmt::join(names, ", "), command);
  if (const auto missing = missing_words(verb); !missing.empty())
    return fmt::format("`{}` wants {}; see `{} --help`", command, fmt::join(missing, " and "), command);
  return fmt::format("{}; see `{} --help`", error.what(), command);
}

}  // namespace nkigrid::cli
