#include "runner/model/wire/wire.hpp"

#include <fmt/format.h>

namespace nkigrid::model {

std::string url_below(std::string_view endpoint, std::string_view path) {
  while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  return fmt::format("{}{}", endpoint, path);
}

}  // namespace nkigrid::model
