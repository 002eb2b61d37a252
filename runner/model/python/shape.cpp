#include "runner/model/python/shape.hpp"

#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "runner/model/python/scan.hpp"

namespace nkigrid::model {
namespace {

/// A statement line: brackets and backslashes joined, comments gone, each string literal replaced by one quote mark.
struct LogicalLine {
  std::size_t indent = 0;
  std::string text;
};

bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

char opener_of(char closer) { return closer == ')' ? '(' : closer == ']' ? '[' : '{'; }

/// Joins physical lines into logical ones. @returns false when brackets do not pair up or a string does not end
bool join_lines(std::string_view source, std::vector<LogicalLine>& lines) {
  const PythonScan scan = scan_python(source);
  if (scan.unterminated) return false;
  std::string brackets;
  LogicalLine line;
  bool at_start = true;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (scan.parts[i] == PythonPart::comment) continue;
    if (scan.parts[i] == PythonPart::text) {
      if (line.text.empty() || line.text.back() != '"' || scan.parts[i - 1] != PythonPart::text) line.text += '"';
      at_start = false;
      continue;
    }
    if (c == '\\' && i + 1 < source.size() && source[i + 1] == '\n') {
      ++i;
      continue;
    }
    if (c == '\n' && brackets.empty()) {
      if (!at_start) lines.push_back(line);
      line = {};
      at_start = true;
      continue;
    }
    if (at_start && (c == ' ' || c == '\t')) {
      line.indent += c == '\t' ? 8 : 1;
      continue;
    }
    if (c == '\r' || c == '\n') continue;
    at_start = false;
    if (c == '(' || c == '[' || c == '{') brackets += c;
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty() || brackets.back() != opener_of(c)) return false;
      brackets.pop_back();
    }
    line.text += c;
  }
  if (!at_start) lines.push_back(line);
  return brackets.empty();
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !continues_word(text[word.size()]));
}

bool is_compound(std::string_view text) {
  constexpr std::array<std::string_view, 11> kWords = {"if",    "elif", "else", "for",    "while",  "def",
                                                       "class", "with", "try",  "except", "finally"};
  for (const std::string_view word : kWords) {
    if (starts_with_word(text, word)) return true;
  }
  return starts_with_word(text, "async");
}

/// The colon that ends a compound statement's header: outside brackets; npos when there is none.
std::size_t header_colon(std::string_view text) {
  int depth = 0;
  bool lambda = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (depth == 0 && starts_with_word(text.substr(i), "lambda")) lambda = true;
    if (depth == 0 && text[i] == ':' && !text.substr(i).starts_with(":=")) {
      if (!lambda) return i;
      lambda = false;
    }
  }
  return std::string_view::npos;
}

bool is_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 31> kKeywords = {
      "if",    "else",   "elif",  "for",   "in",     "is",       "not",    "and",   "or",     "import", "from",
      "as",    "return", "yield", "del",   "global", "nonlocal", "assert", "raise", "lambda", "def",    "class",
      "while", "with",   "async", "await", "pass",   "print",    "except", "match", "case"};
  for (const std::string_view keyword : kKeywords) {
    if (word == keyword) return true;
  }
  return false;
}

/// Two plain words side by side are prose, not Python.
bool has_adjacent_names(std::string_view text) {
  std::string_view previous;
  bool only_space_since = false;
  for (std::size_t i = 0; i < text.size();) {
    if (!continues_word(text[i])) {
      only_space_since = only_space_since && text[i] == ' ';
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < text.size() && continues_word(text[i])) ++i;
    const std::string_view word = text.substr(start, i - start);
    const bool literal_prefix = i < text.size() && text[i] == '"';
    if (!previous.empty() && only_space_since && !is_keyword(previous) && !is_keyword(word)) return true;
    previous = literal_prefix ? std::string_view() : word;
    only_space_since = true;
  }
  return false;
}

bool is_statement(std::string_view text) {
  while (text.size() > 1 && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with("...")) return true;
  constexpr std::string_view kNever = ".,:;=%&|^<>/!?$`)]}";
  if (kNever.find(text.front()) != std::string_view::npos) return false;
  if (text.find('`') != std::string_view::npos || text.find('?') != std::string_view::npos ||
      text.find('$') != std::string_view::npos)
    return false;
  constexpr std::string_view kUnfinished = "=+-/%&|^<>(";
  if (text.front() == '*' && text.find('=') == std::string_view::npos) return false;
  if (kUnfinished.find(text.back()) != std::string_view::npos) return false;
  return !has_adjacent_names(text);
}

bool ends_in_colon(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return last != std::string_view::npos && text[last] == ':';
}

}  // namespace

bool looks_like_python(std::string_view source) {
  std::vector<LogicalLine> lines;
  if (!join_lines(source, lines) || lines.empty()) return false;
  std::vector<std::size_t> indents = {0};
  bool body_expected = false;
  for (const LogicalLine& line : lines) {
    if (body_expected) {
      if (line.indent <= indents.back()) return false;
      indents.push_back(line.indent);
    } else {
      while (line.indent < indents.back()) indents.pop_back();
      if (line.indent != indents.back()) return false;
    }
    body_expected = false;
    if (!is_statement(line.text)) return false;
    if (!is_compound(line.text) && !ends_in_colon(line.text)) continue;
    const std::size_t colon = header_colon(line.text);
    if (colon == std::string_view::npos) return false;
    body_expected = line.text.find_first_not_of(' ', colon + 1) == std::string_view::npos;
  }
  return !body_expected;
}

}  // namespace nkigrid::model
