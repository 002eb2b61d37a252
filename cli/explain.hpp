#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nkigrid::cli {

/// What the columns of tables are, as their csv names them, with the page of their formula.
/// @param tables words of --table; empty: every one @param columns of the terminal; 0: of any width
/// @throws Error{usage} for a word that names none
std::string explain_tables(const std::vector<std::string>& tables, std::size_t columns);

}  // namespace nkigrid::cli
