#include "jobs/grid/prices.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/core.h>

#include "jobs/grid/flow_map.hpp"
#include "jobs/grid/named_file.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {
namespace {

/// The one spelling whose order as text is the calendar's.
bool is_day(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00";
  const auto fits = [](char c, char shape) { return shape == '0' ? c >= '0' && c <= '9' : c == shape; };
  if (!std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(), fits)) return false;
  const auto number = [&](std::size_t at, std::size_t digits) { return std::stoi(text.substr(at, digits)); };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

/// The keys of a price, in a model and in a table alike.
Price read_price_keys(Fields& fields) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  fields.require("input");
  fields.require("output");
  Price price{fields.number("input", 0, 0, kAny), fields.number("output", 0, 0, kAny)};
  if (fields.find("cache_read") != nullptr) price.cache_read_usd = fields.number("cache_read", 0, 0, kAny);
  if (fields.find("cache_write") != nullptr) price.cache_write_usd = fields.number("cache_write", 0, 0, kAny);
  const auto* from = fields.find("from");
  price.from = fields.text("from", "");
  if (from != nullptr && !is_day(price.from))
    fields.problems().add(
        from->place, fmt::format("{} is {} (a day is wanted, as 2026-01-31)", fields.path_of("from"), describe(*from)));
  return price;
}

DatedPrice read_row(const YamlNode& node, std::size_t index, Problems& problems) {
  Fields fields(node, fmt::format("prices[{}]", index), problems);
  DatedPrice row;
  fields.require("model");
  fields.require("from");
  row.model = fields.text("model", "");
  if (fields.find("api") != nullptr) row.api = fields.choice("api", "", endpoint_api_names());
  row.price = read_price_keys(fields);
  fields.finish();
  return row;
}

}  // namespace

Price read_price(const YamlNode& node, const std::string& path, Problems& problems) {
  Fields fields(node, path, problems);
  auto price = read_price_keys(fields);
  fields.finish();
  return price;
}

FlowMap price_map(const Price& price) {
  FlowMap map;
  map.number("input", price.input_usd).number("output", price.output_usd);
  if (price.cache_read_usd) map.number("cache_read", *price.cache_read_usd);
  if (price.cache_write_usd) map.number("cache_write", *price.cache_write_usd);
  map.text_if("from", price.from);
  return map;
}

std::vector<DatedPrice> read_price_table(const std::filesystem::path& file, Problems& problems) {
  std::vector<DatedPrice> table;
  const auto tree = parse_yaml(read_named_file(file), problems);
  if (!tree) return table;
  Fields fields(*tree, "", problems);
  const auto* rows = fields.require("prices");
  fields.finish();
  if (rows == nullptr) return table;
  if (rows->kind != YamlNode::Kind::list) {
    problems.add(rows->place, fmt::format("prices is {} (a list of rows is wanted)", describe(*rows)));
    return table;
  }
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const auto& node : rows->items) {
    auto row = read_row(node, table.size(), problems);
    if (!seen.insert({row.model, row.api, row.price.from}).second)
      problems.add(node.place, fmt::format("prices[{}] is a second price of '{}' from {}; leave one out", table.size(),
                                           row.model, row.price.from));
    table.push_back(std::move(row));
  }
  return table;
}

const Price* price_on(const std::vector<DatedPrice>& table, const ModelApi& api, const std::string& day) {
  const auto* remote = remote_of(api);
  if (remote == nullptr) return nullptr;
  const DatedPrice* best = nullptr;
  for (const auto& row : table) {
    if (row.model != remote->model || (!row.api.empty() && row.api != name_of(api))) continue;
    if (row.price.from > day) continue;
    const bool newer = best == nullptr ||
                       std::pair(row.price.from, !row.api.empty()) > std::pair(best->price.from, !best->api.empty());
    if (newer) best = &row;
  }
  return best == nullptr ? nullptr : &best->price;
}

std::string today() {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
}

}  // namespace nkigrid::jobs
