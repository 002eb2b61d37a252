#pragma once

#include <string>
#include <vector>

namespace nkigrid::aggregate {

enum class Align { left, right };

/// What a column's words stand for in a sheet of data: a number's empty word is none.
enum class Kind { word, number };

struct Column {
  std::string header;
  Align align = Align::left;
  Kind kind = Kind::word;
  std::string group = {};  ///< a head above this column and its neighbours of the same group; not part of csv
};

/// A rectangular table of finished words, ready for any layout.
struct Sheet {
  std::string name, caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
  std::vector<std::string> notes;              ///< below the table; not part of csv
};

/// Neighbours of one group, and the columns without one, in the order of the sheet.
struct ColumnGroup {
  std::string name;  ///< empty: no head above
  std::size_t first = 0, count = 0;
};
std::vector<ColumnGroup> groups_of(const std::vector<Column>& columns);

/// The columns from `first` on, each with the interval that stands behind it: what no layout parts.
std::vector<std::vector<std::size_t>> units_of(const std::vector<Column>& columns, std::size_t first = 0);

std::vector<std::string> headers_of(const Sheet& sheet);

/// The characters of a word in UTF-8, and the widest word of each column.
std::size_t characters(const std::string& text);
std::vector<std::size_t> widths_of(const Sheet& sheet);

/// Columns padded to the width of their longest word (counted in UTF-8 characters), a rule under the head,
/// notes below. @param columns of the terminal, 0 for any: on a narrower one each row, and the head, takes several
/// lines, those after the first indented, and notes are broken at spaces.
std::string sheet_as_text(const Sheet& sheet, std::size_t columns = 0);

/// RFC 4180 with LF line ends: fields that hold a comma, a quote or a line end are quoted.
std::string sheet_as_csv(const Sheet& sheet);

/// A GitHub-flavoured pipe table under a bold caption; notes are paragraphs. A group stands before each of its heads.
std::string sheet_as_markdown(const Sheet& sheet);
std::string markdown_escaped(const std::string& text);

/// LaTeX tables with booktabs rules, caption, and label "tab:<name>"; every special character is escaped. What is wider
/// than the text is scaled to it (graphicx); a sheet of more than 150 characters becomes several tabulars, each with
/// its leading columns of words, one under the other in a float while a page holds them; what is longer several floats,
/// tab:<name>-2 and so on, each with its notes.
std::string sheet_as_latex(const Sheet& sheet);
std::string latex_escaped(const std::string& text);

}  // namespace nkigrid::aggregate
