#include "runner/agent/told.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace nkigrid::agent {
namespace {

/// @pre lines that belong to a message are indented by two spaces, what belongs to such a line by more
/// (nkisim: neuronxcc/nki/_trace/errors.py)
std::string without_explanations(std::string_view message) {
  std::string kept;
  bool explaining = false;
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size() - 1) + 1;
    const std::string_view line = message.substr(begin, end - begin);
    const bool starts = line.starts_with("  rule: ") || line.starts_with("  fix: ");
    explaining = starts || (explaining && line.starts_with("   "));
    if (!explaining) kept += line;
    begin = end;
  }
  while (kept.ends_with('\n')) kept.pop_back();
  return kept;
}

}  // namespace

device::CompileResult told(device::CompileResult result, jobs::Diagnostics diagnostics) {
  if (diagnostics == jobs::Diagnostics::plain)
    result.diagnostic.message = without_explanations(result.diagnostic.message);
  return result;
}

device::VerifyResult told(device::VerifyResult result, jobs::Diagnostics diagnostics) {
  if (diagnostics == jobs::Diagnostics::plain) {
    result.diagnostic.message = without_explanations(result.diagnostic.message);
    result.hints.clear();
  }
  return result;
}

}  // namespace nkigrid::agent
