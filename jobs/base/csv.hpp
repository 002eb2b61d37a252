#pragma once

#include <string>
#include <string_view>

namespace nkigrid {

/// One field of a CSV file: quoted where RFC 4180 asks for it. Text that a spreadsheet would take for a formula (it
/// begins with = + - @, tab or return, and is no number) gets an apostrophe in front: a name or a kernel is anybody's
/// text, and a cell must not run. @source OWASP, CSV Injection
/// @param text any bytes; ill-formed UTF-8 becomes U+FFFD
std::string csv_field(std::string_view text);

}  // namespace nkigrid
