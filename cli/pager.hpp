#pragma once

#include <string>

namespace nkigrid::cli {

/// Prints a text of ours; on a terminal that it overflows through $PAGER, else `less` (which leaves colours alone and
/// ends by itself where all fits). An empty PAGER, or TERM=dumb, is none. @param plain no pager
void page(const std::string& text, bool plain);

}  // namespace nkigrid::cli
