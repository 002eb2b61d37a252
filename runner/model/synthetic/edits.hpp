#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/model/python/scan.hpp"

namespace nkigrid::model {

/// A source under edit, with its lexical scan.
struct Editable {
  explicit Editable(std::string_view text) : source(text), scan(scan_python(text)) {}
  std::string_view source;
  PythonScan scan;

  /// Every place in code where `needle` begins (at the start of a word, when it begins like one).
  std::vector<std::size_t> places(std::string_view needle) const;
  /// The source with `length` bytes at `at` replaced.
  std::string replaced(std::size_t at, std::size_t length, std::string_view text) const;
  /// The bracketed text of the call whose name begins at `at`: positions of its brackets.
  struct Brackets {
    std::size_t open, close;
  };
  std::optional<Brackets> brackets(std::size_t at) const;
  /// Start of the line that holds `at`.
  std::size_t line_start(std::size_t at) const;
};

struct Swap {
  std::string_view from, to;
};

/// Replaces one occurrence of one of the words, chosen by `pick` among all places of all of them.
std::optional<std::string> swap_one(std::string_view source, std::span<const Swap> swaps, std::uint64_t pick);

/// Replaces every occurrence in code. @returns nothing when there is none
std::optional<std::string> swap_all(std::string_view source, Swap swap);

/// Removes `, keyword=value` from one call of `call` ("nl.load("), chosen by `pick` among those that have it.
std::optional<std::string> drop_argument(std::string_view source, std::span<const std::string_view> calls,
                                         std::string_view keyword, std::uint64_t pick);

}  // namespace nkigrid::model
