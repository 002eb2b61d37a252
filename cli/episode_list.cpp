#include "cli/episode_list.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/findings.hpp"
#include "cli/json_text.hpp"
#include "cli/log_folder.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/reader.hpp"

namespace nkigrid::cli {
namespace {

/// "cell/task#3" is of the cell, of the task in it, and of itself.
bool is_of(const std::string& episode, const std::string& wanted) {
  if (wanted.empty()) return true;
  return episode.rfind(wanted, 0) == 0 &&
         (episode.size() == wanted.size() || episode[wanted.size()] == '/' || episode[wanted.size()] == '#');
}

/// Messages of the ends that count, by episode: the ledger keeps no texts.
std::map<std::string, std::string> messages_of(const jobs::Run& run,
                                               const std::map<std::string, std::uint32_t>& counted) {
  std::map<std::string, std::string> messages;
  log::LogVisitor visitor;
  visitor.end = [&](const log::End& end) {
    const auto id = to_string(end.id.episode);
    const auto at = counted.find(id);
    if (at == counted.end() || at->second != end.id.attempt) return;
    auto message = one_line(parse_findings(end.findings).message);
    messages[id] = message.empty() ? one_line(end.reason) : std::move(message);
  };
  log::read_log(log::log_of(run), log::Texts::load, visitor);
  return messages;
}

/// At most `columns` characters, without the end of a line that goes on.
std::string cut_to(const std::string& text, std::size_t columns) {
  if (columns == 0 || text.size() <= columns) return text;
  return to_valid_utf8(text.substr(0, columns > 3 ? columns - 3 : columns)) + (columns > 3 ? "..." : "");
}

}  // namespace

std::vector<ListedEpisode> list_episodes(const jobs::Run& run, const std::string& wanted,
                                         const exports::Chosen& chosen) {
  const auto ledger = log::read_ledger(run);
  warn_of_log(run, ledger);
  std::vector<ListedEpisode> list;
  std::map<std::string, std::uint32_t> counted;
  for (const auto i : exports::places_of(run.plan, ledger, chosen)) {
    const auto id = to_string(run.plan.id_of(run.plan.episodes[i]));
    if (!is_of(id, wanted)) continue;
    ListedEpisode episode{.episode = id, .outcome = {}, .code = {}, .message = {}, .state = {}};
    episode.state = log::to_string(ledger.states[i].outstanding);
    if (const auto& end = ledger.ends[i]; ledger.states[i].is_scored() && end) {
      episode.outcome = to_string(end->outcome);
      episode.code = end->code == Code::none ? "" : to_string(end->code);
      episode.line = end->line;
      episode.turns = end->turns;
      episode.passed = end->outcome == Outcome::pass;
      if (!episode.passed) counted[id] = ledger.states[i].counted_attempt;
    }
    list.push_back(std::move(episode));
  }
  if (counted.empty()) return list;
  auto messages = messages_of(run, counted);
  for (auto& episode : list) episode.message = messages[episode.episode];
  return list;
}

std::string episodes_text(const std::vector<ListedEpisode>& episodes, std::size_t columns) {
  std::size_t width = 0;
  for (const auto& episode : episodes) width = std::max(width, episode.episode.size());
  std::string text;
  for (const auto& episode : episodes) {
    auto what = episode.outcome.empty() ? "outstanding: " + episode.state : episode.outcome;
    if (!episode.code.empty()) what += " " + episode.code;
    if (episode.line > 0) what += fmt::format(" line {}", episode.line);
    if (!episode.message.empty()) what += ": " + printable(episode.message);
    const auto name = fmt::format("{:<{}}  ", episode.episode, width);
    const bool beside = columns == 0 || name.size() + 30 <= columns;
    text += beside ? name + cut_to(what, columns == 0 ? 0 : columns - name.size())
                   : episode.episode + "\n  " + cut_to(what, columns - 2);
    text += '\n';
  }
  return text;
}

std::string episodes_json(const std::vector<ListedEpisode>& episodes) {
  nlohmann::ordered_json out = {{"version", 1}, {"episodes", nlohmann::ordered_json::array()}};
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(to_valid_utf8(text));
  };
  for (const auto& episode : episodes) {
    out["episodes"].push_back({{"episode", episode.episode},
                               {"outcome", or_null(episode.outcome)},
                               {"passed", episode.passed},
                               {"code", or_null(episode.code)},
                               {"line", episode.line},
                               {"message", or_null(episode.message)},
                               {"turns", episode.turns},
                               {"state", episode.state}});
  }
  return json_text(out);
}

}  // namespace nkigrid::cli
