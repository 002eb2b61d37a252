#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"
#include "jobs/grid/problems.hpp"
#include "jobs/grid/yaml_tree.hpp"

namespace nkigrid::jobs {

// Readers of one value. Each adds a problem and returns nothing when the node is not what it should be;
// `what` names it in the message ("check.trials").
std::optional<std::string> read_text(const YamlNode& node, std::string_view what, Problems& problems);
/// Decimal digits only: YAML's 010 (octal 8), 0x10 and 1_000 are refused.
std::optional<std::uint64_t> read_integer(const YamlNode& node, std::string_view what, std::uint64_t min,
                                          std::uint64_t max, Problems& problems);
std::optional<double> read_number(const YamlNode& node, std::string_view what, double min, double max,
                                  Problems& problems);
std::optional<bool> read_flag(const YamlNode& node, std::string_view what, Problems& problems);
/// More than zero.
std::optional<Seconds> read_duration(const YamlNode& node, std::string_view what, Problems& problems);
/// A scalar, or a list of scalars, with the place of each.
struct PlacedText {
  std::string text;
  Place place;
};
std::vector<PlacedText> read_texts(const YamlNode& node, std::string_view what, Problems& problems);
/// The words of a list. A lone text is refused: `compile: python3 x.py` would be one word.
/// @param example of a right one, for the message
std::vector<PlacedText> read_words(const YamlNode& node, std::string_view what, std::string_view example,
                                   Problems& problems);

/// One map of the file. Every key that is asked for is known; finish() reports the rest with a "did you
/// mean".
class Fields {
 public:
  /// @param path dotted name of the map for messages, "" for the file itself. A node that is no map is
  /// reported once.
  Fields(const YamlNode& node, std::string path, Problems& problems);

  /// The value of a key, or null; makes the key known. A key with nothing behind it counts as there.
  const YamlNode* find(std::string_view key);
  /// As find(), but an absent key is a problem.
  const YamlNode* require(std::string_view key);

  std::string text(std::string_view key, std::string fallback);
  bool flag(std::string_view key, bool fallback);
  std::uint32_t integer(std::string_view key, std::uint32_t fallback, std::uint32_t min,
                        std::uint32_t max = std::numeric_limits<std::uint32_t>::max());
  std::uint64_t integer64(std::string_view key, std::uint64_t fallback);
  double number(std::string_view key, double fallback, double min, double max);
  Seconds duration(std::string_view key, Seconds fallback);
  /// One of `options`.
  std::string choice(std::string_view key, std::string fallback, std::span<const std::string> options);

  /// Reports the keys that nobody asked for.
  void finish();

  Place place() const noexcept { return node_.place; }
  std::string path_of(std::string_view key) const;
  Problems& problems() noexcept { return problems_; }

 private:
  bool has_placeholder() const;
  std::string slip_of(std::size_t index) const;

  const YamlNode& node_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace nkigrid::jobs
