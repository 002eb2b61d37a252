#include "aggregate/tables/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aggregate/layout/json.hpp"
#include "aggregate/layout/numbers.hpp"
#include "aggregate/layout/page.hpp"
#include "aggregate/tables/warnings.hpp"

namespace nkigrid::aggregate {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of docs/formats/tables.md: same values, same bytes

Page page_of(const Evidence& evidence, const TableList& named) {
  Page page;
  for (const auto* table : named) {
    Block block{table->display(evidence), ""};
    block.sheet.name = table->name;
    if (block.sheet.rows.empty()) block.why_empty = table->why_empty(evidence);
    page.blocks.push_back(std::move(block));
  }
  page.warnings = evidence.once(make_warnings);
  return page;
}

// method-pairs is method_pairs.
std::string key_of(const Table& table) {
  auto key = table.name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

TableList those_in_document(const TableList& tables, InDocument where) {
  TableList found;
  std::copy_if(tables.begin(), tables.end(), std::back_inserter(found),
               [&](const auto* table) { return table->in_document == where; });
  return found;
}

void add_tables(Json& document, const Evidence& evidence, const TableList& tables) {
  for (const auto* table : tables)
    document[key_of(*table)] = table->json ? table->json(evidence) : sheet_as_json(table->data(evidence));
}

std::string document_as_json(const Evidence& evidence, const TableList& named) {
  const auto known = tables_from(evidence.from_counts() ? From::counts : From::runs);
  const auto leading = those_in_document(known, InDocument::leading);
  const auto& options = evidence.options;
  Json document{{"version", 1},
                {"run", evidence.name},
                {"rule", to_string(options.rule)},
                {"level", rounded(options.confidence)},
                {"partial", options.partial},
                {"outstanding", evidence.outstanding}};
  add_tables(document, evidence, leading);
  document["warnings"] = evidence.once(make_warnings);
  if (options.adjust == Adjust::bh) document["adjust"] = "bh";
  add_tables(document, evidence, those_in_document(known, InDocument::always));
  add_tables(document, evidence, those_in_document(named, InDocument::if_named));
  for (const auto* table : named) {
    if (const auto why = why_no_rows(evidence, *table); !why.empty()) document["empty"][key_of(*table)] = why;
  }
  return document.dump(1) + '\n';
}

}  // namespace

std::string print_tables(const Evidence& evidence, const TableList& named, Format format, std::size_t columns) {
  if (format == Format::json) return document_as_json(evidence, named);
  if (format == Format::csv) return sheet_as_csv(named.front()->data(evidence));
  return page_as(page_of(evidence, named), format, columns);
}

std::string why_no_rows(const Evidence& evidence, const Table& table) {
  return table.data(evidence).rows.empty() ? table.why_empty(evidence) : "";
}

}  // namespace nkigrid::aggregate
