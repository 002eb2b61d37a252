#include "runner/device/shared/texts.hpp"

#include "jobs/base/text.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kMostMessageBytes = 256 * 1024;
constexpr std::string_view kWarningPrefix = "warning (not blocking): ";

}  // namespace

std::string shown_text(std::string_view text) { return elide_middle(to_valid_utf8(text), kMostMessageBytes); }

std::string as_warning(std::string text) {
  return text.starts_with(kWarningPrefix) ? text : std::string(kWarningPrefix) + text;
}

}  // namespace nkigrid::device
