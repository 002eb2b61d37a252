#include "runner/model/json_text.hpp"

#include <optional>

#include "jobs/base/text.hpp"

namespace nkigrid::model {
namespace {

/// The code unit of a `\uXXXX` escape at `at`, if there is one.
std::optional<unsigned> code_unit(std::string_view text, std::size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool is_high(unsigned unit) { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low(unsigned unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

std::uint32_t count_replacements(std::string_view text) {
  std::uint32_t n = 0;
  for (std::size_t at = text.find("\xef\xbf\xbd"); at != std::string_view::npos; at = text.find("\xef\xbf\xbd", at + 3))
    ++n;
  return n;
}

}  // namespace

MendedJson mend_json(std::string_view raw) {
  const std::string text = to_valid_utf8(raw);
  MendedJson result;
  if (text != raw) result.mended = count_replacements(text) - count_replacements(raw);
  result.text.reserve(text.size());
  // A backslash stands only inside strings in JSON, so pairs of characters can be walked without parsing.
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      result.text += text[i++];
      continue;
    }
    const auto unit = code_unit(text, i);
    const auto next = unit ? code_unit(text, i + 6) : std::nullopt;
    if (unit && is_high(*unit) && next && is_low(*next)) {
      result.text.append(text, i, 12);
      i += 12;
    } else if (unit && (is_high(*unit) || is_low(*unit))) {
      result.text += "\\ufffd";
      ++result.mended;
      i += 6;
    } else {
      result.text.append(text, i, 2);
      i += 2;
    }
  }
  return result;
}

}  // namespace nkigrid::model
