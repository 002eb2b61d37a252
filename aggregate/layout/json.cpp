#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate/layout/render.hpp"
#include "aggregate/layout/sheets.hpp"
#include "aggregate/tables/row_warnings.hpp"

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
  return {{"tasks", rate.tasks},         {"episodes", rate.episodes},
          {"passed", rate.passed},       {"outstanding", rate.outstanding},
          {"rate", number(rate.rate)},   {"interval", interval(rate.interval)},
          {"bounds", range(rate.bounds)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json cell_json(const CellRow& row, bool from_counts) {
  const auto& rate = row.total;
  Json levels = Json::object();
  for (const auto& part : row.levels) levels[part.level] = level_json(part.rate);
  Json json{{"cell", row.cell},
            {"model", row.model},
            {"mode", row.mode},
            {"prompt", row.prompt},
            {"subset", text_or_null(row.subset)},
            {"tasks", rate.tasks},
            {"replicates", rate.replicates},
            {"episodes", rate.episodes},
            {"passed", rate.passed},
            {"outstanding", rate.outstanding},
            {"rate", number(rate.rate)},
            {"interval", interval(rate.interval)},
            {"bounds", range(rate.bounds)},
            {"run_to_run", range(rate.run_to_run)},
            {"levels", std::move(levels)}};
  if (from_counts) json.update({{"printed", text_or_null(row.printed)}, {"printed_fits", row.printed_fits}});
  return json;
}

Json pair_json(const PairRow& pair) {
  Json json{{"a", pair.a},
            {"b", pair.b},
            {"scope", pair.scope},
            {"family", pair.family},
            {"contrast", pair.contrast},
            {"tasks", pair.tasks},
            {"outstanding", pair.outstanding},
            {"difference", number(pair.difference)},
            {"interval", interval(pair.interval)},
            {"test", pair.test},
            {"p", probability(pair.p)},
            {"p_holm", probability(pair.p_holm)},
            {"verdict", text_or_null(pair.verdict)}};
  if (pair.p_bh) json["p_bh"] = rounded_p(*pair.p_bh);
  if (pair.p_bounds) {
    json["p_bounds"] = {{"low", rounded_p(pair.p_bounds->low)}, {"high", rounded_p(pair.p_bounds->high)}};
    json["p_holm_bounds"] = {{"low", rounded_p(pair.p_holm_bounds->low)},
                             {"high", rounded_p(pair.p_holm_bounds->high)}};
    json["subset"] = text_or_null(pair.subset);
  }
  return json;
}

Json claim_json(const ClaimRow& claim) {
  return {{"where", claim.where},
          {"kind", claim.kind},
          {"a", claim.a},
          {"b", claim.b},
          {"scope", claim.scope},
          {"subset", text_or_null(claim.subset)},
          {"printed", claim.printed},
          {"value", rounded(claim.value)},
          {"interval", interval(claim.interval)},
          {"fits", claim.fits}};
}

Json categories_json(const Tables& tables) {
  Json rows = Json::array();
  for (const auto& row : tables.cells) {
    for (const auto& part : row.categories) {
      Json json{{"cell", row.cell}, {"category", part.level}};
      json.update(level_json(part.rate));
      rows.push_back(std::move(json));
    }
  }
  return rows;
}

Json errors_json(const Breakdown& breakdown) {
  Json outcomes = Json::object();
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    if (breakdown.outcomes[i] > 0) outcomes[std::string(to_string(static_cast<Outcome>(i)))] = breakdown.outcomes[i];
  }
  return {{"cell", breakdown.cell},
          {"scored", breakdown.scored},
          {"outcomes", std::move(outcomes)},
          {"groups", breakdown.groups}};
}

Json turns_json(const Breakdown& breakdown) {
  return {{"cell", breakdown.cell},
          {"scored", breakdown.scored},
          {"passed", breakdown.passed_by_turn},
          {"open", breakdown.open_by_turn}};
}

// Rows as the csv has them: its heads are the keys, and an empty field of a column of numbers is null.
Json rows_json(const Sheet& sheet) {
  Json rows = Json::array();
  for (const auto& words : sheet.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto& column = sheet.columns[i];
      row[column.header] = words[i].empty()              ? Json(nullptr)
                           : column.kind == Kind::number ? Json::parse(words[i])
                                                         : Json(words[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// A table's name as a key: method-pairs is method_pairs.
std::string key_of(TableName name) {
  std::string key(to_string(name));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

void add_extra(Json& document, const Tables& tables, TableName name) {
  const auto key = key_of(name);
  switch (name) {
    case TableName::cells:
    case TableName::levels:
    case TableName::pairs:
    case TableName::claims:
      return;  // in every document that has them
    case TableName::categories:
      document[key] = categories_json(tables);
      return;
    case TableName::errors:
    case TableName::turns:
      document[key] = Json::array();
      for (const auto& breakdown : tables.breakdowns)
        document[key].push_back(name == TableName::errors ? errors_json(breakdown) : turns_json(breakdown));
      return;
    default:
      document[key] = rows_json(data_sheet(tables, name));
  }
}

}  // namespace

std::string tables_as_json(const Tables& tables, const std::vector<TableName>& extra) {
  Json cells = Json::array(), pairs = Json::array();
  for (const auto& row : tables.cells) cells.push_back(cell_json(row, tables.from_counts));
  for (const auto& pair : tables.pairs) pairs.push_back(pair_json(pair));
  std::vector<TableName> shown{TableName::cells, TableName::levels, TableName::pairs};
  shown.insert(shown.end(), extra.begin(), extra.end());
  Json document{{"version", 1},
                {"run", tables.run},
                {"rule", to_string(tables.rule)},
                {"level", rounded(tables.level)},
                {"partial", tables.partial},
                {"outstanding", tables.outstanding},
                {"cells", std::move(cells)},
                {"pairs", std::move(pairs)},
                {"warnings", warnings_of(tables, shown)}};
  if (tables.adjust == Adjust::bh) document["adjust"] = "bh";
  if (tables.from_counts) {
    document["claims"] = Json::array();
    for (const auto& claim : tables.claims) document["claims"].push_back(claim_json(claim));
  }
  for (const auto name : extra) add_extra(document, tables, name);
  for (const auto name : extra) {
    if (const auto why = why_no_rows(tables, name); !why.empty()) document["empty"][key_of(name)] = why;
  }
  return document.dump(1) + '\n';
}

}  // namespace nkigrid::aggregate
