#include <nlohmann/json.hpp>

#include "aggregate/render.hpp"
#include "aggregate/sheets.hpp"

namespace nkigrid::aggregate {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of docs/formats/tables.md: same values, same bytes

Json number(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(nullptr); }

Json probability(const std::optional<double>& p) { return p ? Json(rounded_p(*p)) : Json(nullptr); }

Json range(const std::optional<Range>& ends) {
  if (!ends) return nullptr;
  return {{"low", rounded(ends->low)}, {"high", rounded(ends->high)}};
}

Json interval(const std::optional<Interval>& value) {
  if (!value) return nullptr;
  return {{"method", value->method}, {"low", rounded(value->low)}, {"high", rounded(value->high)}};
}

Json level_json(const Rate& rate) {
  return {{"tasks", rate.tasks}, {"episodes", rate.episodes}, {"passed", rate.passed}, {"outstanding", rate.outstanding},
          {"rate", number(rate.rate)}, {"interval", interval(rate.interval)}, {"bounds", range(rate.bounds)}};
}

Json cell_json(const CellRow& row) {
  const auto& rate = row.total;
  Json levels = Json::object();
  for (const auto& part : row.levels) levels[part.level] = level_json(part.rate);
  return {{"cell", row.cell}, {"model", row.model}, {"mode", row.mode}, {"prompt", row.prompt},
          {"subset", row.subset.empty() ? Json(nullptr) : Json(row.subset)},
          {"tasks", rate.tasks}, {"replicates", rate.replicates}, {"episodes", rate.episodes}, {"passed", rate.passed},
          {"outstanding", rate.outstanding}, {"rate", number(rate.rate)}, {"interval", interval(rate.interval)},
          {"bounds", range(rate.bounds)}, {"run_to_run", range(rate.run_to_run)}, {"levels", std::move(levels)}};
}

Json pair_json(const PairRow& pair) {
  return {{"a", pair.a}, {"b", pair.b}, {"scope", pair.scope}, {"family", pair.family}, {"contrast", pair.contrast},
          {"tasks", pair.tasks}, {"outstanding", pair.outstanding}, {"difference", number(pair.difference)},
          {"interval", interval(pair.interval)}, {"test", pair.test}, {"p", probability(pair.p)}, {"p_holm", probability(pair.p_holm)},
          {"verdict", pair.verdict.empty() ? Json(nullptr) : Json(pair.verdict)}};
}

}  // namespace

std::string tables_as_json(const Tables& tables) {
  Json cells = Json::array(), pairs = Json::array();
  for (const auto& row : tables.cells) cells.push_back(cell_json(row));
  for (const auto& pair : tables.pairs) pairs.push_back(pair_json(pair));
  const Json document{{"version", 1}, {"run", tables.run}, {"rule", to_string(tables.rule)}, {"level", rounded(tables.level)},
                      {"partial", tables.partial}, {"outstanding", tables.outstanding}, {"cells", std::move(cells)},
                      {"pairs", std::move(pairs)}, {"warnings", tables.warnings}};
  return document.dump(1) + '\n';
}

}  // namespace nkigrid::aggregate
