#include "runner/device/check/source_fault.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "jobs/base/text.hpp"

namespace nkigrid::device {
namespace {

constexpr std::size_t kMostSourceBytes = 64 * 1024;  // kernel interface, 1

Diagnostic fault(std::string message, std::uint32_t line = 0) {
  return {Code::py_syntax, Stage::parse, line, std::move(message)};
}

}  // namespace

std::optional<Diagnostic> source_fault(const std::string& source) {
  if (source.size() > kMostSourceBytes) {
    return fault(
        fmt::format("kernel.py has {} bytes; a kernel file may have at most {}", source.size(), kMostSourceBytes));
  }
  if (const auto nul = source.find('\0'); nul != std::string::npos) {
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    return fault(fmt::format("kernel.py, line {}: source code cannot contain null bytes", line),
                 static_cast<std::uint32_t>(line));
  }
  if (to_valid_utf8(source) != source) return fault("kernel.py is not valid UTF-8");
  return std::nullopt;
}

}  // namespace nkigrid::device
