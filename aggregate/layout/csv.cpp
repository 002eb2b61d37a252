#include "jobs/base/csv.hpp"
#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {
namespace {

std::string csv_line(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) line += (i ? "," : "") + csv_field(words[i]);
  return line + '\n';
}

}  // namespace

std::string sheet_as_csv(const Sheet& sheet) {
  std::string text = csv_line(headers_of(sheet));
  for (const auto& row : sheet.rows) text += csv_line(row);
  return text;
}

}  // namespace nkigrid::aggregate
