#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "aggregate/tables/tables.hpp"

namespace nkigrid::aggregate {

struct LevelCount {
  std::uint64_t passed = 0, n = 0;
  std::string printed;  ///< percent as written, or empty
};

/// One printed count: a cell on one subset, each task run once.
struct CountedCell {
  std::string cell, model, mode, prompt, subset;
  std::uint64_t n = 0, passed = 0;
  std::map<std::string, LevelCount> levels;
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
struct Counts {
  std::string name;
  std::vector<CountedCell> cells;
  std::vector<Claim> claims;
};

/// @throws Error{config} with every problem as file:line:col; Error{io}
Counts read_counts(const std::filesystem::path& file);

/// Tables from counts alone. Pairs are the cells of one subset that differ in one of model and mode, against
/// the first listed value, plus the claims' cells; without tasks to pair, a test becomes its bounds over all
/// pairings that the counts allow, and the verdict always-significant, never-significant or
/// depends-on-pairing (exact McNemar at 1 - level, unadjusted). Warnings name printed numbers that do not fit
/// and cells whose two task sets disagree.
/// @param against the baseline of ablations where it is listed; empty: the first value
Tables make_count_tables(const Counts& counts, double level = 0.95, const std::string& against = {});

/// True when the printed number is `value` rounded to as many decimals as are printed; a sign and a % sign
/// are left aside.
bool printed_fits(const std::string& printed, double value);

}  // namespace nkigrid::aggregate
