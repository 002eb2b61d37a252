#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nkigrid {

/// The nearest candidates to a mistyped word, best first, at most `count`; empty when none is near
/// (Damerau-Levenshtein distance at most a third of the word's length, rounded, and at least 1).
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t count = 1);

/// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// Valid UTF-8: every byte that is not part of a well-formed sequence becomes U+FFFD. NUL survives.
std::string to_valid_utf8(std::string_view bytes);

/// Cuts `text` to at most `max_bytes`, keeping head and tail and one marker "... [N bytes left out] ..." between them,
/// on character borders. Text that fits is returned as it is. @pre max_bytes >= 64, `text` is valid UTF-8.
std::string elide_middle(std::string_view text, std::size_t max_bytes);

/// For a terminal: valid UTF-8 in which what steers a terminal or hides (control characters but newline and tab, C1,
/// bidirectional and zero-width ones) stands as \xNN or \u{NNNN}. Everything that somebody else wrote is printed
/// through it.
std::string printable(std::string_view text);

/// A word for a POSIX shell.
std::string shell_word(std::string_view word);

/// Removes ANSI escape sequences and carriage returns that overwrite a line (each becomes a newline).
std::string strip_terminal_codes(std::string_view text);

}  // namespace nkigrid
