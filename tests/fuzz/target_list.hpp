#pragma once

#include <map>
#include <string>
#include <string_view>

namespace nkigrid::fuzz {

/// By name, as `./bootstrap fuzz` and the corpora's folders (tests/data/fuzz/NAME) call them.
const std::map<std::string, void (*)(std::string_view)>& targets();

}  // namespace nkigrid::fuzz
