#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

/// The words around the command line: help pages, what numbers may be, and what was wrong with a line.
namespace nkigrid::cli {

/// The option takes whole numbers from `least` to `most`; its value is called N.
void want_whole(CLI::Option* option, std::uint64_t least, std::uint64_t most);
/// The option takes a number above 0; its value is called X.
void want_positive(CLI::Option* option);
/// The option takes a finite number, whose range the verb knows. @param name of its value on help pages
void want_number(CLI::Option* option, const std::string& name);

/// The verbs right below `app` that its page lists: hidden ones are left out.
std::vector<const CLI::App*> verbs_below(const CLI::App& app);
/// The long options of a verb: "--json".
std::vector<std::string> options_of(const CLI::App& app);

/// Help pages in our words and as wide as the terminal, for `app` and all below it. Called when every verb has declared
/// its options.
void lay_out_help(CLI::App& app);

/// The verb that the words of the command line lead to: `log check` of "log check RUN".
const CLI::App& named_verb(const CLI::App& app, int argc, char** argv);

/// "nkigrid log check"
std::string command_of(const CLI::App& verb);

/// What is wrong with a command line that CLI11 refused: the word, what is near it, and the page that helps.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace nkigrid::cli
