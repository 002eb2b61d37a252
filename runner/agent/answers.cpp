#include "runner/agent/answers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"

namespace nkigrid::agent {
namespace {

/// Keys stay in the order of the kernel interface: models read these answers.
using Json = nlohmann::ordered_json;

Json bounded_list(const std::vector<std::string>& texts, std::size_t most_each) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(bounded(text, most_each));
  return list;
}

constexpr std::size_t kMostItems = 16;

std::vector<std::string> first_items(const std::vector<std::string>& all) {
  std::vector<std::string> items(all.begin(),
                                 all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostItems)));
  if (all.size() > kMostItems) items.push_back(fmt::format("... and {} more", all.size() - kMostItems));
  return items;
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

/// Escapes can make JSON longer than its text.
std::string fitted(const std::function<Json(std::size_t)>& build) {
  for (std::size_t room = kMaxAnswerBytes * 3 / 4;; room /= 2) {
    std::string answer = build(std::max<std::size_t>(room, 64)).dump();
    if (answer.size() <= kMaxAnswerBytes || room < 64) return answer;
  }
}

void add_notes(Json& answer, const std::vector<std::string>& notes) {
  if (!notes.empty()) answer["notes"] = first_items(notes);
}

std::string bounded(std::string_view text, std::size_t most) {
  return elide_middle(to_valid_utf8(strip_terminal_codes(text)), most);
}

std::string compile_answer(const device::CompileResult& result, std::uint32_t number,
                           const std::vector<std::string>& notes) {
  return fitted([&](std::size_t room) {
    const Json warnings = bounded_list(first_items(result.warnings), std::max<std::size_t>(room / 32, 64));
    Json answer;
    answer["ok"] = result.ok();
    if (result.ok()) {
      answer["kernel"] = fmt::format("k{}", number);
    } else {
      answer["code"] = to_string(result.diagnostic.code);
      answer["line"] = result.diagnostic.line == 0 ? Json(nullptr) : Json(result.diagnostic.line);
      answer["message"] = bounded(result.diagnostic.message, room);
    }
    answer["warnings"] = warnings;
    add_notes(answer, notes);
    return answer;
  });
}

std::string verify_answer(const device::VerifyResult& result, std::uint32_t number,
                          const std::vector<std::string>& notes) {
  return fitted([&](std::size_t room) {
    Json answer;
    answer["ok"] = result.paper_ok;
    answer["kernel"] = fmt::format("k{}", number);
    answer["trials"] = result.trials;
    if (!result.paper_ok) {
      answer["passed"] = result.trials_passed;
      answer["code"] = to_string(result.diagnostic.code);
    }
    answer["max_abs_err"] = number_or_null(result.max_abs_err);
    answer["rel_l2"] = number_or_null(result.rel_l2);
    if (!result.paper_ok) {
      if (result.first) {
        answer["first"] = {{"output", result.first->output},
                           {"index", result.first->index},
                           {"got", number_or_null(result.first->got)},
                           {"want", number_or_null(result.first->want)}};
      }
      if (!result.diagnostic.message.empty()) answer["message"] = bounded(result.diagnostic.message, room / 2);
      answer["hints"] = bounded_list(first_items(result.hints), std::max<std::size_t>(room / 32, 64));
    }
    add_notes(answer, notes);
    return answer;
  });
}

std::string profile_answer(const std::string& profile, std::uint32_t number, const std::vector<std::string>& notes) {
  Json answer = {{"ok", true}, {"kernel", fmt::format("k{}", number)}};
  answer.update(Json::parse(profile));
  add_notes(answer, notes);
  return answer.dump();
}

std::string error_answer(const std::string& problem) {
  Json answer;
  answer["ok"] = false;
  answer["error"] = bounded(problem, 2048);
  return answer.dump();
}

std::optional<bool> answered_ok(const std::string& answer) {
  const Json json = Json::parse(answer, nullptr, false);
  if (!json.is_object() || json.contains("error") || !json.contains("ok") || !json["ok"].is_boolean())
    return std::nullopt;
  return json["ok"].get<bool>();
}

}  // namespace nkigrid::agent
