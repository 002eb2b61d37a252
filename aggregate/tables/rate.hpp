#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "aggregate/evidence/options.hpp"
#include "aggregate/evidence/scores.hpp"
#include "aggregate/tables/words.hpp"

namespace nkigrid::aggregate {

/// One rate: of a cell, or of one level of it.
struct Rate {
  std::uint32_t tasks = 0, replicates = 0;  ///< replicates: the most that any of its tasks is planned with
  std::uint64_t episodes = 0, passed = 0, outstanding = 0;  ///< episodes as planned
  std::optional<double>
      rate;  ///< none with episodes outstanding, unless partial: then the mean over tasks with any scored one
  std::optional<Interval> interval;  ///< present with the rate
  std::optional<Range> bounds;       ///< [k/n, (k+u)/n]; only with episodes outstanding
  std::optional<Range> run_to_run;   ///< true rate of these very tasks; only with two replicates or more
};

Rate make_rate(const std::vector<TaskScore>& tasks, const TableOptions& options);

/// Of printed counts: n tasks, each run once.
Rate make_rate(std::uint64_t passed, std::uint64_t n, double confidence);

/// For people: passes of episodes, rate and interval, under one head. @param rate null: the cell has no such part
void push_rate_columns(Sheet& sheet, const std::string& group);
void push_rate_words(Words& words, const Rate* rate);
std::string rate_word(const Rate& rate);

/// For programs: all of it, flat.
std::vector<Column> rate_columns();
void push_rate_fields(Words& words, const Rate& rate);

/// All of it but run_to_run and replicates, which are of a cell only.
nlohmann::ordered_json rate_json(const Rate& rate);

}  // namespace nkigrid::aggregate
