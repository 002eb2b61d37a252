#include "jobs/base/json_depth.hpp"

#include <cstddef>

namespace nkigrid {

std::string_view shallow_part(std::string_view text) noexcept {
  constexpr std::size_t kDeepest = 256;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest) return text.substr(0, i);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return text;
}

}  // namespace nkigrid
