#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::model {

/// Whether an ASCII byte may stand in a Python name.
bool is_word(char c);

/// What each byte of a Python source belongs to.
enum class PythonPart : unsigned char { code, comment, text };

/// A source with its bytes told apart; strings include their quotes.
struct PythonScan {
  std::vector<PythonPart> parts;  ///< one a byte
  bool unterminated = false;      ///< a string does not end where it must
};

/// Tells code from comments and string literals (single and triple quotes, raw and escaped). A lexer, no parser.
/// @source Python language reference 3.11, section 2.4.1
PythonScan scan_python(std::string_view source);

/// The bracket that closes the one at `open`, in code only. @returns nothing when it is never closed
std::optional<std::size_t> closing_bracket(std::string_view source, const PythonScan& scan, std::size_t open);

/// Position of `needle` at or after `from` where all of it is code and no identifier character stands before it.
std::size_t find_code(std::string_view source, const PythonScan& scan, std::string_view needle, std::size_t from = 0);

/// Line number, from 1, of a byte.
std::uint32_t line_of(std::string_view source, std::size_t at);

}  // namespace nkigrid::model
