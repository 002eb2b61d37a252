#include <fmt/format.h>

#include "aggregate/layout/render.hpp"
#include "aggregate/tables/tables.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {

Tables write_tables(const jobs::Run& run, const std::filesystem::path& folder) {
  const auto ledger = log::read_ledger(run);
  const auto facts = read_turn_facts(run, ledger);
  auto tables = make_tables(run, ledger, {}, &facts);
  make_directories(folder);
  auto names = parse_table_name("all");
  for (const auto name : names) {
    write_file_atomic(folder / fmt::format("{}.txt", to_string(name)), render(tables, {name}, Format::text));
    write_file_atomic(folder / fmt::format("{}.csv", to_string(name)), render(tables, {name}, Format::csv));
  }
  std::erase(names, TableName::cost);  // times and lost attempts differ from run to run
  write_file_atomic(folder / "tables.json", render(tables, names, Format::json));
  return tables;
}

}  // namespace nkigrid::aggregate
