#include "aggregate/layout/json.hpp"

#include <nlohmann/json.hpp>

namespace nkigrid::aggregate {

nlohmann::ordered_json sheet_as_json(const Sheet& sheet) {
  using Json = nlohmann::ordered_json;  // keys in the order of the columns: same values, same bytes
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

}  // namespace nkigrid::aggregate
