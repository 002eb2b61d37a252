#include <algorithm>

#include "aggregate/sheet.hpp"

namespace nkigrid::aggregate {
namespace {

std::string markdown_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '`' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string latex_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '<':
        escaped += "\\textless{}";
        break;
      case '>':
        escaped += "\\textgreater{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        escaped += '\\';
        [[fallthrough]];
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string joined(const std::vector<std::string>& words, const std::string& between,
                   std::string (*escape)(const std::string&)) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) line += (i ? between : "") + escape(words[i]);
  return line;
}

std::vector<std::string> headers(const Sheet& sheet) {
  std::vector<std::string> names;
  for (const auto& column : sheet.columns) names.push_back(column.header);
  return names;
}

}  // namespace

std::string sheet_as_markdown(const Sheet& sheet) {
  std::string text = sheet.caption.empty() ? "" : "**" + markdown_escaped(sheet.caption) + "**\n\n";
  text += "| " + joined(headers(sheet), " | ", markdown_escaped) + " |\n|";
  for (const auto& column : sheet.columns) text += column.align == Align::right ? "---:|" : "---|";
  text += '\n';
  for (const auto& row : sheet.rows) text += "| " + joined(row, " | ", markdown_escaped) + " |\n";
  for (const auto& note : sheet.notes) text += "\n" + markdown_escaped(note) + "\n";
  return text;
}

std::string sheet_as_latex(const Sheet& sheet) {
  std::string text = "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{" +
                     latex_escaped(sheet.caption) + "}\n\\label{tab:" + sheet.name + "}\n\\begin{tabular}{";
  for (const auto& column : sheet.columns) text += column.align == Align::right ? 'r' : 'l';
  text += "}\n\\toprule\n" + joined(headers(sheet), " & ", latex_escaped) + " \\\\\n\\midrule\n";
  for (const auto& row : sheet.rows) {
    const auto line = joined(row, " & ", latex_escaped);
    // A "[" right after "\\" would be read as the option of the line break.
    text += (line.starts_with('[') ? "{}" + line : line) + " \\\\\n";
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const auto& note : sheet.notes) text += "\\par{\\footnotesize " + latex_escaped(note) + "}\n";
  return text + "\\end{table}\n";
}

}  // namespace nkigrid::aggregate
