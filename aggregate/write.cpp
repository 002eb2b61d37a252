#include <fmt/format.h>

#include "aggregate/render.hpp"
#include "aggregate/tables.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {

Tables write_tables(const jobs::Run& run, const std::filesystem::path& folder) {
  const auto ledger = log::read_ledger(run);
  auto tables = make_tables(run, ledger);
  make_directories(folder);
  for (const auto name : parse_table_name("all")) {
    write_file_atomic(folder / fmt::format("{}.txt", to_string(name)), render(tables, {name}, Format::text));
    write_file_atomic(folder / fmt::format("{}.csv", to_string(name)), render(tables, {name}, Format::csv));
  }
  write_file_atomic(folder / "tables.json", render(tables, parse_table_name("all"), Format::json));
  return tables;
}

}  // namespace nkigrid::aggregate
