#pragma once

#include <string>
#include <string_view>

namespace nkigrid::aggregate {

enum class Format { text, markdown, latex, csv, json };

std::string_view to_string(Format format) noexcept;

/// @throws Error{usage} naming those that exist
Format parse_format(std::string_view text);

/// The words of --format, for its help.
std::string format_names_help();

}  // namespace nkigrid::aggregate
