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

// The space between a number and its percent sign.
bool is_before_percent(const std::string& text, std::size_t at) {
  return at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && at + 1 < text.size() && text[at + 1] == '%';
}

}  // namespace

std::string latex_escaped(const std::string& text) {
  if (text == "-") return "--";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case ' ':
        out += is_before_percent(text, i) ? "\\," : " ";
        break;
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

namespace {

// A "[" right after "\\" would be read as the option of the line break.
std::string latex_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (&word == &words.front() ? "" : " & ") + latex_escaped(word);
  return (line.starts_with('[') ? "{}" + line : line) + " \\\\\n";
}

std::size_t total_of(const std::vector<std::size_t>& widths, const std::vector<std::size_t>& columns) {
  std::size_t total = 0;
  for (const auto column : columns) total += widths[column] + 2;
  return total;
}

// The columns of each part: all of them, or the leading words with as many of the others as a part holds. A value and
// its interval stay together.
std::vector<std::vector<std::size_t>> column_parts(const Sheet& sheet) {
  const auto widths = widths_of(sheet);
  std::vector<std::size_t> all, keys;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) all.push_back(i);
  if (total_of(widths, all) <= kWidest) return {all};
  while (keys.size() + 1 < all.size() && sheet.columns[keys.size()].align == Align::left) keys.push_back(keys.size());
  std::vector<std::vector<std::size_t>> parts{keys};
  for (const auto& unit : units_of(sheet.columns, keys.size())) {
    if (parts.back().size() > keys.size() && total_of(widths, parts.back()) + total_of(widths, unit) > kWidestPart)
      parts.push_back(keys);
    parts.back().insert(parts.back().end(), unit.begin(), unit.end());
  }
  return parts;
}

Sheet part_of(const Sheet& sheet, const std::vector<std::size_t>& columns, std::size_t first, std::size_t last) {
  Sheet part;
  for (const auto column : columns) part.columns.push_back(sheet.columns[column]);
  for (std::size_t r = first; r < last; ++r) {
    auto& row = part.rows.emplace_back();
    for (const auto column : columns) row.push_back(sheet.rows[r][column]);
  }
  return part;
}

/// What one float holds: parts of a sheet, one under the other.
struct Float {
  std::string label, caption;
  std::vector<Sheet> parts;
  std::vector<std::string> notes;
};

// Parts that lack columns stand in one float where a page holds them.
std::vector<Float> floats_of(const Sheet& sheet) {
  constexpr std::size_t kHeadLines = 3;
  const auto parts = column_parts(sheet);
  std::vector<Float> floats;
  for (std::size_t first = 0; first < std::max<std::size_t>(1, sheet.rows.size()); first += kMostRows) {
    const auto last = std::min(first + kMostRows, sheet.rows.size());
    const auto lines = last - first + kHeadLines;
    const auto together = std::max<std::size_t>(1, (kMostRows + kHeadLines) / lines);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (p % together == 0) floats.push_back({sheet.name, sheet.caption, {}, sheet.notes});
      floats.back().parts.push_back(part_of(sheet, parts[p], first, last));
    }
  }
  for (std::size_t i = 0; i < floats.size() && floats.size() > 1; ++i) {
    floats[i].caption += fmt::format(" ({} of {})", i + 1, floats.size());
    if (i > 0) floats[i].label += fmt::format("-{}", i + 1);
  }
  return floats;
}

// Heads over several columns with a rule under each; nothing where no column has a group.
std::string group_lines(const std::vector<Column>& columns) {
  std::string line, rules;
  for (const auto& group : groups_of(columns)) {
    line += fmt::format("{}\\multicolumn{{{}}}{{l}}{{{}}}", group.first ? " & " : "", group.count,
                        latex_escaped(group.name));
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

std::size_t width_of(const Sheet& part) {
  std::size_t width = 0;
  for (const auto column : widths_of(part)) width += column + 2;
  return width;
}

std::string float_of(const Float& one) {
  const bool wide =
      std::any_of(one.parts.begin(), one.parts.end(), [](const auto& part) { return width_of(part) > kOneColumn; });
  const char* kind = wide ? "table*" : "table";
  auto text = fmt::format("\\begin{{{}}}\n\\centering\n\\caption{{{}}}\n\\label{{tab:{}}}\n", kind,
                          latex_escaped(one.caption), one.label);
  for (const auto& part : one.parts) {
    text += &part == &one.parts.front() ? "" : "\\par\\medskip\n";
    text += "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n" + tabular_of(part) + "}\n";
  }
  for (const auto& note : one.notes) text += "\\par{\\footnotesize " + latex_escaped(note) + "\\par}\n";
  return text + fmt::format("\\end{{{}}}\n", kind);
}

}  // namespace

std::string sheet_as_latex(const Sheet& sheet) {
  std::string text = "% needs \\usepackage{booktabs,graphicx}\n";
  for (const auto& one : floats_of(sheet)) text += float_of(one);
  return text;
}

}  // namespace nkigrid::aggregate
