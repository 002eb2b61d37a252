#include "aggregate/layout/page.hpp"

#include <fmt/format.h>

#include <functional>

#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"

namespace nkigrid::aggregate {
namespace {

using Layout = std::function<std::string(const Sheet&)>;

// One after the other. @param empty how the sentence of an empty table is written: its name, then why
// @param columns as wide as that sentence may be; 0: as it is
std::string laid_out(const std::vector<Block>& blocks, const Layout& layout, const char* empty,
                     std::size_t columns = 0) {
  std::string text;
  for (const auto& block : blocks) {
    text += text.empty() ? "" : "\n";
    text += block.sheet.rows.empty()
                ? wrapped(fmt::format(fmt::runtime(empty), block.sheet.name, block.why_empty), columns)
                : layout(block.sheet);
  }
  return text;
}

// Names, categories and messages are anybody's text: what steers a terminal or turns a line is made to stand there.
void make_printable(std::vector<std::string>& words) {
  for (auto& word : words) word = printable(word);
}

Page printable_page(Page page) {
  make_printable(page.warnings);
  for (auto& block : page.blocks) {
    make_printable(block.sheet.notes);
    block.sheet.caption = printable(block.sheet.caption);
    block.why_empty = printable(block.why_empty);
    for (auto& row : block.sheet.rows) make_printable(row);
    for (auto& column : block.sheet.columns) column.header = printable(column.header);
  }
  return page;
}

std::string page_as_text(const Page& page, std::size_t columns) {
  const auto layout = [columns](const Sheet& sheet) { return sheet_as_text(sheet, columns); };
  auto text = laid_out(page.blocks, layout, "{}: nothing to show: {}\n", columns);
  for (const auto& warning : page.warnings) text += "\n" + wrapped("warning: " + warning, columns);
  return page.warnings.empty() ? text : text + '\n';
}

std::string page_as_markdown(const Page& page) {
  auto text = laid_out(page.blocks, sheet_as_markdown, "**{}**: nothing to show: {}\n");
  for (const auto& warning : page.warnings) text += "\n" + markdown_escaped("warning: " + warning) + "\n";
  return text;
}

std::string page_as_latex(const Page& page) {
  auto text = laid_out(page.blocks, sheet_as_latex, "% {}: nothing to show: {}\n");
  for (const auto& warning : page.warnings)
    text += "\\par{\\footnotesize " + latex_escaped("Warning: " + warning + ".") + "\\par}\n";
  return text;
}

}  // namespace

std::string page_as(const Page& given, Format format, std::size_t columns) {
  const auto page = printable_page(given);
  if (format == Format::markdown) return page_as_markdown(page);
  return format == Format::latex ? page_as_latex(page) : page_as_text(page, columns);
}

}  // namespace nkigrid::aggregate
