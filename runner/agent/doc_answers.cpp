#include "runner/agent/doc_answers.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "runner/agent/answers.hpp"

namespace nkigrid::agent {
namespace {

using Json = nlohmann::ordered_json;

std::size_t lines_of(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

/// What stands behind the first `lines` line ends.
std::string_view without_lines(std::string_view text, std::size_t lines) {
  for (; lines > 0 && !text.empty(); --lines) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

/// Whole lines of at most `most` bytes, but one at least.
std::string_view head_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto last = text.rfind('\n', most - 1);
  return text.substr(0, last == std::string_view::npos ? std::min(text.find('\n'), text.size() - 1) + 1 : last + 1);
}

}  // namespace

std::string list_answer(const std::vector<jobs::Page>& pages, const std::vector<std::string>& notes) {
  return fitted([&](std::size_t room) {
    Json answer = {{"ok", true}, {"files", Json::array()}};
    std::size_t listed = 0;
    for (const auto& page : pages) {
      const Json row = {{"file", page.name}, {"lines", lines_of(page.text)}};
      const auto size = row.dump().size() + 1;
      if (size > room) break;
      room -= size;
      answer["files"].push_back(row);
      ++listed;
    }
    if (listed < pages.size()) answer["not_listed"] = pages.size() - listed;
    add_notes(answer, notes);
    return answer;
  });
}

const jobs::Page* find_page(const std::vector<jobs::Page>& pages, const std::string& name) {
  const auto at = std::find_if(pages.begin(), pages.end(), [&](const auto& page) { return page.name == name; });
  return at == pages.end() ? nullptr : &*at;
}

std::string unknown_page(const std::vector<jobs::Page>& pages, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& page : pages) names.push_back(page.name);
  const auto shown = elide_middle(to_valid_utf8(name), 64);
  return fmt::format("no file '{}'{}; call read_docs without arguments for the list", shown,
                     did_you_mean(shown, names));
}

std::string page_answer(const jobs::Page& page, std::uint32_t line, const std::vector<std::string>& notes) {
  const auto rest = without_lines(page.text, line - 1);
  return fitted([&](std::size_t room) {
    const auto text = head_of(rest, room);
    const auto next = line + lines_of(text);
    Json answer = {{"ok", true}, {"file", page.name}, {"line", line}, {"lines", lines_of(page.text)}};
    answer["text"] = bounded(text, room);
    if (text.size() < rest.size()) answer["next_line"] = next;
    add_notes(answer, notes);
    return answer;
  });
}

}  // namespace nkigrid::agent
