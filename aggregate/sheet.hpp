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
};

/// A rectangular table of finished words, ready for any layout.
struct Sheet {
  std::string name, caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
  std::vector<std::string> notes;              ///< below the table; not part of csv
};

/// Columns padded to the width of their longest word (counted in UTF-8 characters), a rule under the head,
/// notes below.
std::string sheet_as_text(const Sheet& sheet);

/// RFC 4180 with LF line ends: fields that hold a comma, a quote or a line end are quoted.
std::string sheet_as_csv(const Sheet& sheet);

/// A GitHub-flavoured pipe table under a bold caption; notes are paragraphs.
std::string sheet_as_markdown(const Sheet& sheet);

/// A LaTeX table with booktabs rules, caption, and label "tab:<name>"; every special character is escaped.
std::string sheet_as_latex(const Sheet& sheet);

}  // namespace nkigrid::aggregate
