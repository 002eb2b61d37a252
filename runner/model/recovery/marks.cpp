#include "runner/model/recovery/marks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace nkigrid::model {
namespace {

constexpr auto kMissing = std::string_view::npos;
constexpr std::string_view kSpace = " \t\r\n";
/// The longest tag or label.
constexpr std::size_t kLongestMark = 80;

std::string lower_letters(std::string_view text) {
  std::string letters;
  for (const unsigned char c : text)
    if (std::isalpha(c) != 0) letters += static_cast<char>(std::tolower(c));
  return letters;
}

bool holds_any(const std::string& text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// Whether a tag, or the word behind a fence, announces a call.
bool announces(std::string_view tag) {
  constexpr std::array<std::string_view, 7> kCalls = {"tool",   "function",  "action",     "invoke",
                                                      "plugin", "pythontag", "pythonstart"};
  constexpr std::array<std::string_view, 8> kOthers = {"end",    "suffix", "response", "result",
                                                       "output", "answer", "sep",      "error"};
  if (tag.starts_with("</") || tag.starts_with("[/") || tag.starts_with("<|/")) return false;
  if (tag == "[unused11]") return true;  // openPangu's
  const std::string words = lower_letters(tag);
  if (words == "call" || words == "calls") return true;
  if (words == "tools" || words == "functions") return false;  // what is offered
  return holds_any(words, kCalls) && !holds_any(words, kOthers);
}

/// The length of the tag that a text ends with, `<...>` or `[...]`; 0: it ends with none.
std::size_t tag_length(std::string_view text) {
  if (text.empty() || (text.back() != '>' && text.back() != ']')) return 0;
  const char open = text.back() == '>' ? '<' : '[';
  const std::size_t begin = text.rfind(open);
  if (begin == kMissing || text.size() - begin > kLongestMark || text.size() - begin < 3) return 0;
  return text.substr(begin).find('\n') == kMissing ? text.size() - begin : 0;
}

bool is_special(std::string_view tag) { return tag.starts_with("<|") || tag.starts_with("<｜"); }

std::string_view last_line(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  return newline == kMissing ? text : text.substr(newline + 1);
}

/// A line that says nothing but that a call follows.
bool is_label(std::string_view line) {
  constexpr std::array<std::string_view, 8> kLabels = {"action",       "actions",       "toolcall",         "toolcalls",
                                                       "functioncall", "functioncalls", "toolfunctioncall", "call"};
  if (line.size() > kLongestMark) return false;
  if (const auto end = line.find("|>"); line.starts_with("<|") && end != kMissing) line.remove_prefix(end + 2);
  const std::string words = lower_letters(line);
  return std::find(kLabels.begin(), kLabels.end(), words) != kLabels.end();
}

void strip_space(std::string_view& text) { text = text.substr(0, text.find_last_not_of(kSpace) + 1); }

/// Takes one piece of a lead off the end of a text. @returns whether there was one
bool strip_piece(std::string_view& text, Lead& lead) {
  if (text.ends_with('[')) return text.remove_suffix(1), true;
  const std::string_view line = last_line(text);
  const std::size_t fence = line.rfind("```");
  const bool opens = fence != kMissing && line.find_first_of(" `", fence + 3) == kMissing;
  if (opens && (fence == 0 || is_label(line.substr(0, fence)))) {  // "Action: ```json"
    lead.says_call = lead.says_call || announces(line.substr(fence + 3));
    return text.remove_suffix(line.size() - fence), true;
  }
  if (const std::size_t length = tag_length(text); length > 0) {
    const auto tag = text.substr(text.size() - length);
    const bool says = announces(tag);
    if (!says && !is_special(tag)) return false;
    lead.says_call = lead.says_call || says;
    return text.remove_suffix(length), true;
  }
  if (!is_label(line)) return false;
  lead.says_call = true;
  return text.remove_suffix(line.size()), true;
}

}  // namespace

Lead lead_before(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostPieces = 8;
  // A lead is short; a line without end is not read from its beginning at each place.
  const std::size_t from = at > kMostPieces * kLongestMark ? at - kMostPieces * kLongestMark : 0;
  text = text.substr(from, at - from);
  Lead lead;
  strip_space(text);
  for (std::size_t n = 0; n < kMostPieces && strip_piece(text, lead); ++n) strip_space(text);
  lead.begin = from + text.size();
  return lead;
}

bool is_trailer(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n`]"), text.size()));
    if (text.empty()) return true;
    const char close = text.front() == '<' ? '>' : text.front() == '[' ? ']' : '\0';
    const std::size_t end = close == '\0' ? kMissing : text.substr(0, kLongestMark).find(close);
    if (end == kMissing) return false;
    text.remove_prefix(end + 1);
  }
}

}  // namespace nkigrid::model
