#include "jobs/grid/yaml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "jobs/base/text.hpp"
#include "jobs/grid/units.hpp"

namespace nkigrid::jobs {
namespace {

bool is_plain_scalar(const YamlNode& node) { return node.kind == YamlNode::Kind::scalar && !node.quoted; }

bool is_decimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

namespace {

/// Terminals, scripts and servers would act on these; line breaks and tabs are text (a nudge has them).
bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f';
  });
}

/// A near option, unless only its numbers differ: trn2 is no slip for trn1, and 2.22 none for 2.23.
std::string misspelt(std::string_view word, std::span<const std::string> options) {
  const auto letters = [](std::string_view text) {
    std::string kept;
    std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return c < '0' || c > '9'; });
    return kept;
  };
  const auto near = nearest(word, options);
  return near.empty() || letters(near.front()) == letters(word) ? std::string() : did_you_mean(word, options);
}

/// Longer is a mistyped unit: no run waits ten years.
constexpr Seconds kLongest{10.0 * 365 * 86400};

}  // namespace

std::optional<std::string> read_text(const YamlNode& node, std::string_view what, Problems& problems) {
  if (node.kind != YamlNode::Kind::scalar) {
    problems.add(node.place, fmt::format("{} is {} (text is wanted)", what, describe(node)));
    return std::nullopt;
  }
  if (has_control(node.text)) {
    problems.add(node.place, fmt::format("{} holds a control character; leave it out", what));
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::uint64_t> read_integer(const YamlNode& node, std::string_view what, std::uint64_t min,
                                          std::uint64_t max, Problems& problems) {
  const auto refuse = [&](std::string_view why) -> std::optional<std::uint64_t> {
    problems.add(node.place, fmt::format("{} is {} ({})", what, describe(node), why));
    return std::nullopt;
  };
  const std::string range =
      min == max ? fmt::format("nothing but {} is possible", min)
      : max == std::numeric_limits<std::uint64_t>::max() || max == std::numeric_limits<std::uint32_t>::max()
          ? fmt::format("a whole number of at least {} is wanted", min)
          : fmt::format("a whole number from {} to {} is wanted", min, max);
  if (!is_plain_scalar(node) || !is_decimal(node.text)) return refuse(range);
  if (node.text.size() > 1 && node.text.front() == '0')
    return refuse("a leading zero reads as octal; write it without");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  if (error != std::errc{} || end != node.text.data() + node.text.size() || value < min || value > max)
    return refuse(range);
  return value;
}

std::optional<double> read_number(const YamlNode& node, std::string_view what, double min, double max,
                                  Problems& problems) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (is_plain_scalar(node)) {
    const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
    if (error != std::errc{} || end != node.text.data() + node.text.size())
      value = std::numeric_limits<double>::quiet_NaN();
  }
  if (std::isfinite(value) && value >= min && value <= max) return value;
  const std::string range = std::isfinite(max) ? fmt::format("a number from {} to {} is wanted", min, max)
                                               : fmt::format("a number of at least {} is wanted", min);
  problems.add(node.place, fmt::format("{} is {} ({})", what, describe(node), range));
  return std::nullopt;
}

std::optional<bool> read_flag(const YamlNode& node, std::string_view what, Problems& problems) {
  if (is_plain_scalar(node) && node.text == "true") return true;
  if (is_plain_scalar(node) && node.text == "false") return false;
  problems.add(node.place, fmt::format("{} is {} (true or false is wanted)", what, describe(node)));
  return std::nullopt;
}

std::optional<Seconds> read_duration(const YamlNode& node, std::string_view what, Problems& problems) {
  if (node.kind == YamlNode::Kind::scalar) {
    if (const auto duration = parse_duration(node.text); duration && duration->count() > 0 && *duration <= kLongest)
      return duration;
  }
  problems.add(node.place, fmt::format("{} is {} (a duration with its unit is wanted: ms, s, min, h, d or HH:MM:SS, at "
                                       "most ten years); write e.g. 120 s",
                                       what, describe(node)));
  return std::nullopt;
}

std::vector<PlacedText> read_texts(const YamlNode& node, std::string_view what, Problems& problems) {
  std::vector<PlacedText> texts;
  if (node.kind == YamlNode::Kind::scalar) {
    texts.push_back({node.text, node.place});
  } else if (node.kind == YamlNode::Kind::list) {
    if (node.items.empty())
      problems.add(node.place, fmt::format("{} is an empty list (nothing would run); name at least one", what));
    for (const auto& item : node.items) {
      if (const auto text = read_text(item, what, problems)) texts.push_back({*text, item.place});
    }
  } else {
    problems.add(node.place, fmt::format("{} is {} (a name or a list of names is wanted)", what, describe(node)));
  }
  return texts;
}

std::vector<PlacedText> read_words(const YamlNode& node, std::string_view what, std::string_view example,
                                   Problems& problems) {
  if (node.kind == YamlNode::Kind::list) return read_texts(node, what, problems);
  problems.add(node.place,
               fmt::format("{} is {} (a list of words is wanted); write e.g. {}", what, describe(node), example));
  return {};
}

Fields::Fields(const YamlNode& node, std::string path, Problems& problems)
    : node_(node), path_(std::move(path)), problems_(problems) {
  if (node.kind != YamlNode::Kind::map) {
    problems_.add(node.place, fmt::format("{} is {} (a map of keys is wanted)", path_.empty() ? "the file" : path_,
                                          describe(node)));
  }
}

std::string Fields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const YamlNode* Fields::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  if (node_.kind != YamlNode::Kind::map) return nullptr;
  for (const auto& item : node_.items) {
    if (item.key == key) return &item;
  }
  return nullptr;
}

const YamlNode* Fields::require(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr && node_.kind == YamlNode::Kind::map && !has_placeholder()) {
    problems_.add(node_.place, fmt::format("{} is missing", path_of(key)));
  }
  return node;
}

std::string Fields::text(std::string_view key, std::string fallback) {
  const auto* node = find(key);
  return node == nullptr ? std::move(fallback)
                         : read_text(*node, path_of(key), problems_).value_or(std::move(fallback));
}
bool Fields::flag(std::string_view key, bool fallback) {
  const auto* node = find(key);
  return node == nullptr ? fallback : read_flag(*node, path_of(key), problems_).value_or(fallback);
}
std::uint32_t Fields::integer(std::string_view key, std::uint32_t fallback, std::uint32_t min, std::uint32_t max) {
  const auto* node = find(key);
  if (node == nullptr) return fallback;
  return static_cast<std::uint32_t>(read_integer(*node, path_of(key), min, max, problems_).value_or(fallback));
}
std::uint64_t Fields::integer64(std::string_view key, std::uint64_t fallback) {
  const auto* node = find(key);
  if (node == nullptr) return fallback;
  return read_integer(*node, path_of(key), 0, std::numeric_limits<std::uint64_t>::max(), problems_).value_or(fallback);
}
double Fields::number(std::string_view key, double fallback, double min, double max) {
  const auto* node = find(key);
  return node == nullptr ? fallback : read_number(*node, path_of(key), min, max, problems_).value_or(fallback);
}
Seconds Fields::duration(std::string_view key, Seconds fallback) {
  const auto* node = find(key);
  return node == nullptr ? fallback : read_duration(*node, path_of(key), problems_).value_or(fallback);
}

std::string Fields::choice(std::string_view key, std::string fallback, std::span<const std::string> options) {
  const auto* node = find(key);
  if (node == nullptr) return fallback;
  if (node->kind == YamlNode::Kind::scalar && std::find(options.begin(), options.end(), node->text) != options.end())
    return node->text;
  problems_.add(node->place, fmt::format("{} is {} (one of {} is wanted){}", path_of(key), describe(*node),
                                         fmt::join(options, ", "), misspelt(node->text, options)));
  return fallback;
}

/// A merge key or a placeholder may stand for any key: only it is told of, not what it may have stood for.
bool Fields::has_placeholder() const {
  return std::any_of(node_.items.begin(), node_.items.end(),
                     [](const YamlNode& item) { return item.key.rfind('<', 0) == 0; });
}

/// What an unknown key most likely is, or "" where it is but misspelt.
std::string Fields::slip_of(std::size_t index) const {
  const auto& item = node_.items[index];
  if (item.key == "<<") return "YAML's merge key '<<' is not read here; write the keys out";
  if (item.key.rfind('<', 0) == 0) return fmt::format("'{}' is a placeholder; write a name in its place", item.key);
  if (index == 0 || !is_decimal(item.key) || item.kind != YamlNode::Kind::null) return {};
  const auto& before = node_.items[index - 1];
  if (!is_plain_scalar(before) || !is_decimal(before.text)) return {};
  return fmt::format("{} is '{},{}' (a comma separates entries); write {}.{} with a decimal point", path_of(before.key),
                     before.text, item.key, before.text, item.key);
}

void Fields::finish() {
  if (node_.kind != YamlNode::Kind::map) return;
  std::set<std::string_view> reported;
  for (std::size_t i = 0; i < node_.items.size(); ++i) {
    const auto& item = node_.items[i];
    if (std::find(known_.begin(), known_.end(), item.key) != known_.end()) continue;
    if (!reported.insert(item.key).second) continue;  // the repeat is reported as such
    if (auto slip = slip_of(i); !slip.empty()) {
      problems_.add(item.key_place, std::move(slip));
      continue;
    }
    problems_.add(item.key_place,
                  fmt::format("unknown key '{}'{}{}", item.key, path_.empty() ? "" : fmt::format(" in {}", path_),
                              did_you_mean(item.key, known_)));
  }
}

}  // namespace nkigrid::jobs
