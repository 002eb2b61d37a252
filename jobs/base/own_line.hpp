#pragma once

#include <string>
#include <string_view>

namespace nkigrid {

/// Of what a launcher and the nkigrid that it started printed: the first line of ours ("nkigrid: ..."), without those
/// words, else the first line. At most 500 bytes of it.
std::string own_line(std::string_view text);

}  // namespace nkigrid
