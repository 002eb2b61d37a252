#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/problems.hpp"

namespace nkigrid::jobs {

/// A YAML document as it was written: every scalar verbatim, every key kept (a repeated one too), every place
/// remembered. yaml-cpp's own tree loses all three (first of duplicate keys wins, 010 reads as 8, a missing
/// key has no place).
struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< the scalar stood in quotes or carried a tag: text, whatever it looks like
  Place place;
  std::string key;  ///< of a map's item
  Place key_place;
  std::vector<YamlNode> items;  ///< of a list or map
};

/// "empty", "a list", "a map", "the text 'x'" or "'x'": how a message names what it found.
std::string describe(const YamlNode& node);

/// Reads one document. Broken YAML, a key that is no scalar and repeated keys are added to `problems`.
/// @param source of all its places (Problems::add_source) @returns nothing when the text is not YAML at all
std::optional<YamlNode> parse_yaml(std::string_view text, Problems& problems, std::uint32_t source = 0);

}  // namespace nkigrid::jobs
