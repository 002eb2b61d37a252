#include "slurm/array_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/core.h>

namespace nkigrid::slurm {
namespace {

struct Range {
  std::uint32_t first = 0, last = 0;
};

/// Of an array, by Slurm's own rules (MaxArraySize is at most 4,000,001): who says more has not written an array.
constexpr std::uint32_t kMostElements = 4'000'001;

/// Takes "3" or "3-5" and the comma behind it off the front.
std::optional<Range> take_range(std::string_view& text) {
  const auto part = text.substr(0, text.find(','));
  const char* const end = part.data() + part.size();
  Range range;
  auto read = std::from_chars(part.data(), end, range.first);
  if (read.ec != std::errc{}) return std::nullopt;
  range.last = range.first;
  if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, range.last);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return range;
}

template <class Use>
void for_each_range(std::string_view text, Use use) {
  text = text.substr(0, text.find('%'));
  while (!text.empty()) {
    const auto range = take_range(text);
    if (!range) return;
    use(*range);
  }
}

}  // namespace

std::string array_text(const std::vector<std::uint32_t>& elements, std::uint32_t throttle) {
  std::string text;
  for (std::size_t i = 0; i < elements.size();) {
    std::size_t j = i;
    while (j + 1 < elements.size() && elements[j + 1] == elements[j] + 1) ++j;
    if (!text.empty()) text += ',';
    text += j == i ? fmt::format("{}", elements[i]) : fmt::format("{}-{}", elements[i], elements[j]);
    i = j + 1;
  }
  return throttle > 0 ? fmt::format("{}%{}", text, throttle) : text;
}

std::vector<std::uint32_t> parse_elements(std::string_view text) {
  std::vector<std::uint32_t> elements;
  for_each_range(text, [&](const Range& range) {
    if (range.last >= kMostElements) return;
    for (std::uint64_t element = range.first; element <= range.last && elements.size() < kMostElements; ++element)
      elements.push_back(static_cast<std::uint32_t>(element));
  });
  return elements;
}

std::optional<std::uint32_t> highest_element(std::string_view text) {
  std::uint32_t highest = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto range = take_range(text);
    if (!range || range->last < range->first) return std::nullopt;
    highest = std::max(highest, range->last);
  }
  return highest;
}

std::uint32_t count_elements(std::string_view text) {
  std::uint64_t count = 0;
  for_each_range(text, [&](const Range& range) {
    count += range.last >= range.first ? std::uint64_t{range.last} - range.first + 1 : 0;
  });
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t throttle_of(std::string_view text) {
  const auto at = text.find('%');
  std::uint32_t throttle = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), throttle);
  return throttle;
}

}  // namespace nkigrid::slurm
