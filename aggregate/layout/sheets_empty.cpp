#include <algorithm>

#include "aggregate/layout/sheets.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr const char* kNoPairs =
    "no two cells match a contrast; run a second model or mode, or list `contrasts:` in the grid";
constexpr const char* kNoMethods =
    "no model has a `method`; give the checkpoints of one method the same name, e.g. `grpo-1: {..., method: grpo}` and "
    "`grpo-2: {..., method: grpo}`";

std::string why_empty_of_counts(TableName name) {
  switch (name) {
    case TableName::levels:
      return "no cell is counted by level; add e.g. `levels: {L1: [passed, n]}` to cells of the counts file";
    case TableName::claims:
      return "the counts file has no `claims:`; add the numbers that the text prints";
    case TableName::interactions:
      return "a 2x2 needs two models in the same two modes on one subset; add the missing cells, with `model` and "
             "`mode`, to the counts file";
    case TableName::pairs:
    case TableName::ablation:
      return "no two cells of one subset share a model or a mode; add `model`, `mode` and `subset` to cells of the "
             "counts file";
    default:
      return "no cell has a `model` and a `mode`; add them to the counts file";
  }
}

}  // namespace

std::string why_empty(const Tables& tables, TableName name) {
  if (tables.from_counts) return why_empty_of_counts(name);
  switch (name) {
    case TableName::ablation:
      return "no two cells differ in one of model, mode and prompt alone; add a value of one of them to an entry of "
             "`cells:`";
    case TableName::pairs:
      return kNoPairs;
    case TableName::interactions:
      return "a 2x2 needs four cells: two values of one factor, each with the same two values of another, e.g. `cells: "
             "[{model: [m, n], mode: [ss, agent], prompt: p}]`; "
             "`factors:` of the grid, where it has them, must name values that were run";
    case TableName::methods:
      return kNoMethods;
    case TableName::method_pairs:
      return tables.methods.empty()
                 ? kNoMethods
                 : "there is one method in each mode and prompt; run another model there, or give it another `method`";
    case TableName::flips:
      return tables.pairs.empty() ? kNoPairs : "the compared cells pass the same tasks, equally often";
    case TableName::replicates:
      return "no cell has every episode scored; `nkigrid resume` scores the rest, --partial looks at those that are";
    case TableName::cost:
      return "the turns were not read";
    default:
      return "no episode is scored yet; `nkigrid run` or `resume` scores them";
  }
}

}  // namespace nkigrid::aggregate
