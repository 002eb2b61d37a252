#include <algorithm>

#include <fmt/format.h>

#include "aggregate/layout/sheet.hpp"

namespace nkigrid::aggregate {
namespace {

constexpr std::size_t kMostRows = 38;     // of a float on one page
constexpr std::size_t kOneColumn = 60;    // characters that one column of a two-column page can hold at a readable size
constexpr std::size_t kWidest = 150;      // characters: scaled to 6.5 inches they are about 6 points high
constexpr std::size_t kWidestPart = 110;  // of a sheet that is split

// A hyphen before a digit is a minus; alone it is a dash.
bool is_minus(const std::string& text, std::size_t at) {
  const bool starts = at == 0 || text[at - 1] == '[' || text[at - 1] == ' ';
  return starts && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
}

std::string escaped(const std::string& text) {
  if (text == "-") return "--";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '-':
        out += is_minus(text, i) ? "$-$" : "-";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        [[fallthrough]];
      default:
        out += text[i];
    }
  }
  return out;
}

// A "[" right after "\\" would be read as the option of the line break.
std::string latex_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (&word == &words.front() ? "" : " & ") + escaped(word);
  return (line.starts_with('[') ? "{}" + line : line) + " \\\\\n";
}

std::size_t total_of(const std::vector<std::size_t>& widths, const std::vector<std::size_t>& columns) {
  std::size_t total = 0;
  for (const auto column : columns) total += widths[column] + 2;
  return total;
}

// The columns of each part: all of them, or the leading words with as many of the others as a part holds.
std::vector<std::vector<std::size_t>> column_parts(const Sheet& sheet) {
  const auto widths = widths_of(sheet);
  std::vector<std::size_t> all, keys;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) all.push_back(i);
  if (total_of(widths, all) <= kWidest) return {all};
  while (keys.size() + 1 < all.size() && sheet.columns[keys.size()].align == Align::left) keys.push_back(keys.size());
  std::vector<std::vector<std::size_t>> parts{keys};
  for (std::size_t i = keys.size(); i < all.size(); ++i) {
    if (parts.back().size() > keys.size() && total_of(widths, parts.back()) + widths[i] + 2 > kWidestPart)
      parts.push_back(keys);
    parts.back().push_back(i);
  }
  return parts;
}

// The sheet cut into what one float holds each.
std::vector<Sheet> parts_of(const Sheet& sheet) {
  std::vector<Sheet> parts;
  for (std::size_t first = 0; first < std::max<std::size_t>(1, sheet.rows.size()); first += kMostRows) {
    for (const auto& columns : column_parts(sheet)) {
      Sheet part{sheet.name, sheet.caption, {}, {}, sheet.notes};
      for (const auto column : columns) part.columns.push_back(sheet.columns[column]);
      for (std::size_t r = first; r < std::min(first + kMostRows, sheet.rows.size()); ++r) {
        auto& row = part.rows.emplace_back();
        for (const auto column : columns) row.push_back(sheet.rows[r][column]);
      }
      parts.push_back(std::move(part));
    }
  }
  for (std::size_t i = 0; i < parts.size() && parts.size() > 1; ++i) {
    parts[i].caption += fmt::format(" ({} of {})", i + 1, parts.size());
    if (i > 0) parts[i].name += fmt::format("-{}", i + 1);
  }
  return parts;
}

// Heads over several columns with a rule under each; nothing where no column has a group.
std::string group_lines(const std::vector<Column>& columns) {
  std::string line, rules;
  for (const auto& group : groups_of(columns)) {
    line += fmt::format("{}\\multicolumn{{{}}}{{l}}{{{}}}", group.first ? " & " : "", group.count, escaped(group.name));
    if (!group.name.empty())
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", group.first + 1, group.first + group.count);
  }
  return rules.empty() ? "" : line + " \\\\\n" + rules + "\n";
}

std::string tabular_of(const Sheet& sheet) {
  std::string text = "\\begin{tabular}{";
  std::vector<std::string> heads;
  for (const auto& column : sheet.columns) {
    text += column.align == Align::right ? 'r' : 'l';
    heads.push_back(column.header);
  }
  text += "}\n\\toprule\n" + group_lines(sheet.columns) + latex_line(heads) + "\\midrule\n";
  for (const auto& row : sheet.rows) text += latex_line(row);
  return text + "\\bottomrule\n\\end{tabular}";
}

std::string float_of(const Sheet& sheet) {
  const auto widths = widths_of(sheet);
  std::size_t width = 0;
  for (const auto column : widths) width += column + 2;
  const char* kind = width > kOneColumn ? "table*" : "table";
  auto text = fmt::format("\\begin{{{}}}\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n", kind,
                          escaped(sheet.caption), sheet.name);
  text += "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n" + tabular_of(sheet) + "}\n";
  for (const auto& note : sheet.notes) text += "\\par{\\footnotesize " + escaped(note) + "\\par}\n";
  return text + fmt::format("\\end{{{}}}\n", kind);
}

}  // namespace

std::string sheet_as_latex(const Sheet& sheet) {
  std::string text = "% needs \\usepackage{booktabs,graphicx}\n";
  for (const auto& part : parts_of(sheet)) text += float_of(part);
  return text;
}

}  // namespace nkigrid::aggregate
