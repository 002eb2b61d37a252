#include "jobs/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/core.h>

namespace nkigrid {
namespace {

/// Optimal string alignment distance: insert, delete, replace, swap of neighbours each cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Length of the well-formed UTF-8 sequence at the front of `bytes` (Unicode 15, table 3-7), or 0.
std::size_t sequence_length(std::string_view bytes) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : (lead & 0xf0) == 0xe0        ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(bytes[i])) return 0;
  }
  if (lead == 0xe0 && at(1) < 0xa0) return 0;
  if (lead == 0xed && at(1) > 0x9f) return 0;  // surrogate halves
  if (lead == 0xf0 && at(1) < 0x90) return 0;
  if (lead == 0xf4 && at(1) > 0x8f) return 0;
  return length;
}

/// How many bytes at the front are well-formed UTF-8.
std::size_t valid_front(std::string_view bytes) noexcept {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto length = static_cast<std::uint8_t>(bytes[at]) < 0x80 ? 1 : sequence_length(bytes.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

/// @pre `sequence` is one well-formed sequence
std::uint32_t code_point(std::string_view sequence) noexcept {
  const auto lead = static_cast<std::uint8_t>(sequence[0]);
  std::uint32_t point = sequence.size() == 1 ? lead : lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1)) point = point << 6U | (static_cast<std::uint8_t>(c) & 0x3fU);
  return point;
}

/// Whether a character steers the terminal or hides, instead of standing there: controls (Cc), and those of the format
/// characters (Cf, Zl, Zp) that turn or join what is around them. @source Unicode 15, UnicodeData; UTR 36, 2.10
bool acts_on_terminal(std::uint32_t point) noexcept {
  struct Range {
    std::uint32_t first, last;
  };
  static constexpr Range kRanges[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                                      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [point](const Range& range) { return point >= range.first && point <= range.last; });
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::size_t limit = std::max<std::size_t>(1, (word.size() + 1) / 3);
  // A distance takes time and memory of both lengths multiplied: what is no slip of the hand is not measured.
  constexpr std::size_t kLongestWord = 256;
  if (word.size() > kLongestWord) return {};
  for (const auto& candidate : candidates) {
    if (candidate.size() > word.size() + limit) continue;
    const auto distance = edit_distance(word, candidate);
    if (distance <= limit) ranked.emplace_back(distance, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (std::size_t i = 0; i < ranked.size() && i < count; ++i) best.push_back(ranked[i].second);
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto best = nearest(word, candidates);
  return best.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", best.front());
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (;;) {
    const auto valid = valid_front(bytes);
    text += bytes.substr(0, valid);
    if (valid == bytes.size()) return text;
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(valid + 1);
  }
}

std::string elide_middle(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  constexpr std::size_t kMarkerBytes = 48;
  const std::size_t keep = max_bytes - kMarkerBytes;
  std::size_t head = keep / 2;
  std::size_t tail = text.size() - (keep - head);
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  return fmt::format("{}\n... [{} bytes left out] ...\n{}", text.substr(0, head), tail - head, text.substr(tail));
}

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

std::string strip_terminal_codes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && !(text[i] >= '@' && text[i] <= '~')) ++i;
    } else if (text[i] == '\r') {
      if (i + 1 >= text.size() || text[i + 1] != '\n') out += '\n';
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  const auto valid = to_valid_utf8(text);
  std::string result;
  for (std::string_view rest = valid; !rest.empty();) {
    const auto length = sequence_length(rest);
    const auto point = code_point(rest.substr(0, length));
    if (point != '\n' && point != '\t' && acts_on_terminal(point))
      result += point < 0x80 ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{{{:x}}}", point);
    else
      result += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return result;
}

}  // namespace nkigrid
