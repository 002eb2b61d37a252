#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/outcome.hpp"

namespace nkigrid::model {

/// One way in which models break a correct kernel: a source-to-source edit with the diagnostics that name it.
/// @source the failures that the NKI-Agent paper lists (5.3) and the error classes of the NKI error manual
struct Fault {
  std::string_view name;
  std::vector<Code> codes;              ///< diagnostic codes that name it
  std::vector<std::string_view> words;  ///< lower-case words of compiler text or hints that name it
  std::string_view slip;                ///< what was done wrong, as the model tells it once it has found out
  /// The broken source, or nothing where the text gives no hold.
  /// @param pick chooses among the places and variants that fit
  std::optional<std::string> (*apply)(std::string_view source, std::uint64_t pick);
};

/// Every fault, in the order in which several are applied.
std::span<const Fault> all_faults();

// The groups that all_faults() puts together, one file each.
std::vector<Fault> name_faults();    ///< what exists and how it is called
std::vector<Fault> tile_faults();    ///< sizes, memories, layout, edges
std::vector<Fault> number_faults();  ///< compiles, and the numbers are wrong

}  // namespace nkigrid::model
