#include "runner/model/python/scan.hpp"

#include <algorithm>
#include <cctype>

namespace nkigrid::model {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

namespace {

/// End of the string literal whose quote stands at `at`; npos when it does not end.
std::size_t string_end(std::string_view source, std::size_t at) {
  const char quote = source[at];
  const std::string triple(3, quote);
  const bool is_triple = source.substr(at, 3) == triple;
  for (std::size_t i = at + (is_triple ? 3 : 1); i < source.size(); ++i) {
    if (source[i] == '\\') {
      ++i;
    } else if (is_triple && source.substr(i, 3) == triple) {
      return i + 3;
    } else if (!is_triple && source[i] == quote) {
      return i + 1;
    } else if (!is_triple && source[i] == '\n') {
      return std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

}  // namespace

PythonScan scan_python(std::string_view source) {
  PythonScan scan;
  scan.parts.assign(source.size(), PythonPart::code);
  for (std::size_t i = 0; i < source.size();) {
    if (source[i] == '#') {
      const std::size_t end = std::min(source.find('\n', i), source.size());
      std::fill(scan.parts.begin() + static_cast<std::ptrdiff_t>(i),
                scan.parts.begin() + static_cast<std::ptrdiff_t>(end), PythonPart::comment);
      i = end;
    } else if (source[i] == '"' || source[i] == '\'') {
      std::size_t end = string_end(source, i);
      if (end == std::string_view::npos) {
        scan.unterminated = true;
        end = source.size();
      }
      std::fill(scan.parts.begin() + static_cast<std::ptrdiff_t>(i),
                scan.parts.begin() + static_cast<std::ptrdiff_t>(end), PythonPart::text);
      i = end;
    } else {
      ++i;
    }
  }
  return scan;
}

std::optional<std::size_t> closing_bracket(std::string_view source, const PythonScan& scan, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < source.size(); ++i) {
    if (scan.parts[i] != PythonPart::code) continue;
    if (source[i] == '(' || source[i] == '[' || source[i] == '{') ++depth;
    if ((source[i] == ')' || source[i] == ']' || source[i] == '}') && --depth == 0) return i;
  }
  return std::nullopt;
}

std::size_t find_code(std::string_view source, const PythonScan& scan, std::string_view needle, std::size_t from) {
  for (std::size_t at = source.find(needle, from); at != std::string_view::npos; at = source.find(needle, at + 1)) {
    const auto begin = scan.parts.begin() + static_cast<std::ptrdiff_t>(at);
    const bool all_code = std::all_of(begin, begin + static_cast<std::ptrdiff_t>(needle.size()),
                                      [](PythonPart part) { return part == PythonPart::code; });
    const bool starts_word = at == 0 || !is_word(needle.front()) || (!is_word(source[at - 1]) && source[at - 1] != '.');
    if (all_code && starts_word) return at;
  }
  return std::string_view::npos;
}

std::uint32_t line_of(std::string_view source, std::size_t at) {
  return 1 + static_cast<std::uint32_t>(std::count(
                 source.begin(), source.begin() + static_cast<std::ptrdiff_t>(std::min(at, source.size())), '\n'));
}

}  // namespace nkigrid::model
