#include "jobs/base/own_line.hpp"

namespace nkigrid {

std::string own_line(std::string_view text) {
  constexpr std::string_view kOurs = "nkigrid: ";
  constexpr std::size_t kMost = 500;
  for (auto rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    if (line.substr(0, kOurs.size()) == kOurs) return std::string(line.substr(kOurs.size(), kMost));
  }
  return std::string(text.substr(0, text.find('\n')).substr(0, kMost));
}

}  // namespace nkigrid
