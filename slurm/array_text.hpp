#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Slurm's way to write the elements of an array: "0-3,5%2".
namespace nkigrid::slurm {

/// Ranges of ascending indices, and how many run at once (0: no limit).
std::string array_text(const std::vector<std::uint32_t>& elements, std::uint32_t throttle);

/// The indices; what cannot be read ends the list.
std::vector<std::uint32_t> parse_elements(std::string_view text);

/// The highest index of a list that is one from end to end. Nothing when it is none.
std::optional<std::uint32_t> highest_element(std::string_view text);

/// How many indices, without listing them.
std::uint32_t count_elements(std::string_view text);

/// The number behind '%'; 0: none.
std::uint32_t throttle_of(std::string_view text);

}  // namespace nkigrid::slurm
