#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace nkigrid::test {

// The columns that a row of a tabular fills: words between unescaped ampersands, with those that span several.
inline int columns_of(const std::string& line) {
  int columns = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && (line[i] != '&' || (i > 0 && line[i - 1] == '\\'))) continue;
    const auto word = line.substr(begin, i - begin);
    const auto span = word.find("\\multicolumn{");
    columns += span == std::string::npos ? 1 : std::stoi(word.substr(span + 13));
    begin = i + 1;
  }
  return columns;
}

// Holds every row of every tabular against its column letters. @returns the rows seen
inline int check_tabulars(const std::string& text) {
  std::istringstream lines(text);
  int wanted = 0, rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("\\begin{tabular}{")) {
      wanted = static_cast<int>(line.size() - std::string("\\begin{tabular}{}").size());
    } else if (line.starts_with("\\end{tabular}")) {
      wanted = 0;
    } else if (wanted > 0 && line.ends_with("\\\\")) {
      EXPECT_EQ(columns_of(line), wanted) << line;
      ++rows;
    }
  }
  return rows;
}

}  // namespace nkigrid::test
