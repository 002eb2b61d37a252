#pragma once

#include <string>
#include <string_view>

namespace nkigrid::cli {

/// The log's `findings` (docs/formats/segment.md) apart, as columns.
struct Findings {
  std::string message;
  std::string hints;         ///< a line each
  std::string first, worst;  ///< elements that do not match, JSON, or ""
};

/// What is not there, or no JSON, is left empty.
Findings parse_findings(std::string_view json);

/// "[3, 7] of output 0 is 0.5, the reference 1.25", or "" for what is no element.
std::string describe_element(std::string_view json);

}  // namespace nkigrid::cli
