#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/clock.hpp"

namespace nkigrid::jobs {

/// A scalar that reads back as the same text: plain where nothing could take it for another thing, else in
/// double quotes.
std::string yaml_scalar(std::string_view text);

/// The words as YAML writes them on one line, e.g. `[a, "b c"]`; different words give different texts.
std::string flow_list(const std::vector<std::string>& words);

/// `{key: value, ...}` on one line, in the order of the calls.
class FlowMap {
 public:
  FlowMap& raw(std::string_view key, std::string_view value);  ///< `value` is YAML already
  FlowMap& text(std::string_view key, std::string_view value) { return raw(key, yaml_scalar(value)); }
  FlowMap& text_if(std::string_view key, std::string_view value) { return value.empty() ? *this : text(key, value); }
  FlowMap& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  FlowMap& number(std::string_view key, double value);
  FlowMap& integer(std::string_view key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  FlowMap& duration(std::string_view key, Seconds value);
  bool empty() const { return text_.empty(); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace nkigrid::jobs
