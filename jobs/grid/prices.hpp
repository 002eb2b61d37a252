#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/apis.hpp"

namespace nkigrid::jobs {

class FlowMap;
class Problems;
struct YamlNode;

/// USD per 1e6 tokens.
struct Price {
  double input_usd = 0;
  double output_usd = 0;
  std::optional<double> cache_read_usd = {};   ///< of input tokens read from a cache; none: as any input
  std::optional<double> cache_write_usd = {};  ///< of input tokens written to one
  std::string from = {};                       ///< the day it holds from, YYYY-MM-DD, of a price table's row; else ""
};

/// A row of a price table (docs/formats/prices.md).
struct DatedPrice {
  std::string model;  ///< as its server calls it
  std::string api;    ///< of this api alone; "": of any
  Price price;        ///< with `from`
};

/// models.NAME.price
Price read_price(const YamlNode& node, const std::string& path, Problems& problems);
FlowMap price_map(const Price& price);

/// Every problem of the file is added to `problems`, whose file it is.
/// @throws Error{io} when it cannot be read
std::vector<DatedPrice> read_price_table(const std::filesystem::path& file, Problems& problems);

/// What held on a day: of the rows of the api's model that began until then the newest, of two that began on one day
/// the one that names the api. Null where none did, and for a model without an endpoint.
/// @param day YYYY-MM-DD
const Price* price_on(const std::vector<DatedPrice>& table, const ModelApi& api, const std::string& day);

/// YYYY-MM-DD, in UTC.
std::string today();

}  // namespace nkigrid::jobs
