#include "aggregate/tables/write.hpp"

#include "aggregate/tables/document.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::aggregate {

void write_tables(const jobs::Run& run, const std::filesystem::path& folder) {
  const auto ledger = log::read_ledger(run);
  const auto turns = read_turn_facts(run, ledger);
  const auto evidence = evidence_of(run, ledger, {}, &turns);
  make_directories(folder);
  auto tables = tables_from(From::runs);
  for (const auto* table : tables) {
    write_file_atomic(folder / (table->name + ".txt"), print_tables(evidence, {table}, Format::text));
    write_file_atomic(folder / (table->name + ".csv"), print_tables(evidence, {table}, Format::csv));
  }
  std::erase_if(tables, [](const auto* table) { return !table->repeats; });
  write_file_atomic(folder / "tables.json", print_tables(evidence, tables, Format::json));
}

}  // namespace nkigrid::aggregate
