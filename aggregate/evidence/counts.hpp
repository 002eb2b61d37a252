#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nkigrid::aggregate {

struct PrintedLevel {
  std::uint64_t passed = 0, n = 0;
  std::string printed;  ///< percent as written, or empty

  double rate() const noexcept { return static_cast<double>(passed) / static_cast<double>(n); }
};

/// One printed count: a cell on one subset, each task run once.
struct PrintedCell {
  std::string cell, model, mode, prompt, subset;
  std::uint64_t n = 0, passed = 0;
  std::map<std::string, PrintedLevel> levels;
  std::string printed;
};

struct Claim {
  std::string where;
  std::string kind;   ///< difference (points), relative (percent of b), share (percent of b)
  std::string a, b;   ///< cells
  std::string scope;  ///< all, a level, or a subset
  std::string printed;
};

/// A counts file (docs/formats/counts.md).
struct PrintedCounts {
  std::string name;
  std::vector<PrintedCell> cells;
  std::vector<Claim> claims;
};

/// @throws Error{config} with every problem as file:line:col; Error{io}
PrintedCounts read_counts(const std::filesystem::path& file);

/// The cells of one subset, with the claims that name two of them and no other subset.
/// @throws Error{usage} where no cell is of it, with those that there are
PrintedCounts only_subset(PrintedCounts counts, const std::string& subset);

/// Passes of n tasks of a cell in a scope (all, its subset, a level); none when the cell has not that level.
std::optional<PrintedLevel> printed_in(const PrintedCell& cell, const std::string& scope);

/// True when the printed number is `value` rounded to as many decimals as are printed; a sign and a % sign
/// are left aside.
bool printed_fits(const std::string& printed, double value);

}  // namespace nkigrid::aggregate
