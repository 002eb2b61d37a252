#pragma once

#include <string>

namespace nkigrid::cli {

/// Lines of `after` against `before`: unchanged runs are folded. Each line carries its number in `after` and a mark: '
/// ', '+' or '-'.
std::string changed_lines(const std::string& before, const std::string& after);

}  // namespace nkigrid::cli
