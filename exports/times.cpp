#include "exports/times.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace nkigrid::exports {

std::string utc_text(double unix_s) {
  if (!std::isfinite(unix_s) || unix_s <= 0) return "";
  const auto milliseconds = std::llround(unix_s * 1000);
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds % 1000);
}

}  // namespace nkigrid::exports
