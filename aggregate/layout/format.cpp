#include "aggregate/layout/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::array<std::string_view, 5> kWords{"text", "markdown", "latex", "csv", "json"};  // by Format

}  // namespace

std::string_view to_string(Format format) noexcept { return kWords[static_cast<std::size_t>(format)]; }

Format parse_format(std::string_view text) {
  const auto found = std::find(kWords.begin(), kWords.end(), text);
  if (found != kWords.end()) return static_cast<Format>(found - kWords.begin());
  const std::vector<std::string> words(kWords.begin(), kWords.end());
  throw Error{ErrorCode::usage, fmt::format("no format '{}'{}; this version has: {}", text, did_you_mean(text, words),
                                            fmt::join(words, ", "))};
}

std::string format_names_help() { return fmt::format("{}", fmt::join(kWords, ", ")); }

}  // namespace nkigrid::aggregate
