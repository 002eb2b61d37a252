#include "jobs/grid/yaml_trouble.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "jobs/base/text.hpp"

namespace nkigrid::jobs {
namespace {

Place place_at(std::string_view text, std::size_t at) {
  Place place{1, 1};
  for (const char c : text.substr(0, at)) {
    if (c == '\n') {
      ++place.line;
      place.col = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) {
      ++place.col;  // characters, not bytes
    }
  }
  return place;
}

std::optional<std::size_t> tab_in_indentation(std::string_view text) {
  bool indents = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (indents && text[at] == '\t') return at;
    indents = text[at] == '\n' || (indents && text[at] == ' ');
  }
  return std::nullopt;
}

/// Where the quoted text that opens at `at` ends, or nothing. @pre text[at] is a quote
std::optional<std::size_t> end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\')
      ++at;
    else if (text[at] == quote && (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote))
      return at;
    else if (text[at] == quote)
      ++at;  // '' is a quote inside
  }
  return std::nullopt;
}

/// A quote opens a text only where a text may begin.
bool may_begin(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at == 0 || std::string_view("\n:,-[{?").find(text[at - 1]) != std::string_view::npos;
}

struct Scan {
  std::vector<std::size_t> open;          ///< brackets that nothing closes
  std::optional<std::size_t> stray;       ///< a bracket that closes nothing, or not what was opened last
  std::optional<std::size_t> long_quote;  ///< a quoted text that does not end in its line
};

/// Brackets and quotes as a reader sees them: comments and quoted texts apart.
Scan scan(std::string_view text) {
  Scan seen;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '"' || c == '\'') && may_begin(text, at)) {
      const auto end = end_of_quoted(text, at);
      const auto quoted = text.substr(at, end.value_or(text.size()) - at);
      if (!seen.long_quote && (!end || quoted.find('\n') != std::string_view::npos)) seen.long_quote = at;
      at = end.value_or(text.size());
    } else if ((c == '[' || c == '{') && (!seen.open.empty() || may_begin(text, at))) {
      seen.open.push_back(at);
    } else if (c == ']' || c == '}') {
      const bool after_bracket = at > 0 && (text[at - 1] == ']' || text[at - 1] == '}');  // else a plain text's
      const bool fits = !seen.open.empty() && text[seen.open.back()] == (c == ']' ? '[' : '{');
      if (fits)
        seen.open.pop_back();
      else if (!seen.stray && (!seen.open.empty() || after_bracket))
        seen.stray = at;
    }
  }
  return seen;
}

}  // namespace

std::optional<YamlTrouble> not_a_text(std::string_view text) {
  constexpr std::size_t kMostYamlBytes = std::size_t{16} << 20;
  if (text.size() > kMostYamlBytes)
    return YamlTrouble{{}, fmt::format("larger than {} MiB; no grid and no table is", kMostYamlBytes >> 20)};
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return YamlTrouble{place_at(text, nul), "not a text file (a NUL byte); take it out, or save the file as UTF-8"};
  const auto valid = to_valid_utf8(text);
  if (valid == text) return std::nullopt;
  // The mark that stands for a bad byte is longer, and may begin as it does: where the mark begins is the place.
  auto at = static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), valid.begin()).first - text.begin());
  while (at > 0 && (static_cast<unsigned char>(valid[at]) & 0xc0U) == 0x80U) --at;
  return YamlTrouble{place_at(text, at), "not a text file (bytes that are no UTF-8); save it as UTF-8"};
}

std::optional<YamlTrouble> likely_slip(std::string_view text) {
  if (const auto tab = tab_in_indentation(text))
    return YamlTrouble{place_at(text, *tab), "a tab as indentation (YAML forbids it); write spaces"};
  const auto seen = scan(text);
  if (seen.long_quote)
    return YamlTrouble{place_at(text, *seen.long_quote),
                       fmt::format("a quote that its line does not close; close it with {}", text[*seen.long_quote])};
  if (!seen.open.empty()) {
    const char open = text[seen.open.back()];
    return YamlTrouble{place_at(text, seen.open.back()),
                       fmt::format("'{}' is not closed; close it with '{}'", open, open == '[' ? ']' : '}')};
  }
  if (seen.stray)
    return YamlTrouble{place_at(text, *seen.stray),
                       fmt::format("'{}' closes nothing that was opened; take it out", text[*seen.stray])};
  return std::nullopt;
}

}  // namespace nkigrid::jobs
