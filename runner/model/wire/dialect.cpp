#include "runner/model/wire/dialect.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace nkigrid::model {
namespace {

/// That a parameter is unwelcome as such, not that its value is wrong; lower case.
constexpr std::array<std::string_view, 12> kUnwelcome = {
    "unsupported", "not supported", "not support", "deprecated",    "only the default", "not permitted",
    "not allowed", "unrecognized",  "unknown",     "not available", "only 1 is",        "only be set to 1"};

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

Dialect merged(const Dialect& a, const Dialect& b) {
  return {.max_completion_tokens = a.max_completion_tokens || b.max_completion_tokens,
          .empty_content = a.empty_content || b.empty_content,
          .no_temperature = a.no_temperature || b.no_temperature,
          .no_top_p = a.no_top_p || b.no_top_p,
          .no_seed = a.no_seed || b.no_seed};
}

std::string left_out(const Dialect& dialect, const jobs::ModelSpec& model) {
  std::string names;
  if (dialect.no_temperature && model.temperature) names = "temperature";
  if (dialect.no_top_p && model.top_p) names += names.empty() ? "top_p" : ",top_p";
  return names;
}

Dialect wanted_dialect(long status, const std::string& words) {
  if (status != 400 && status != 422 && status != 500) return {};
  std::string lower = words;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  Dialect dialect;
  dialect.max_completion_tokens =
      (says(lower, "max_tokens") && says(lower, "max_completion_tokens") && says(lower, "nsupported")) ||
      (says(lower, "maxtokens") && says(lower, "maxcompletiontokens"));
  const bool names_null = says(lower, "null") || says(words, "None") || says(lower, "none is not an allowed value");
  dialect.empty_content = says(words, "NoneType") || (says(lower, "content") && names_null);
  const bool unwelcome =
      std::any_of(kUnwelcome.begin(), kUnwelcome.end(), [&](auto word) { return says(lower, word); });
  if (!unwelcome || dialect.max_completion_tokens || status == 500) return dialect;
  dialect.no_temperature = says(lower, "temperature");
  dialect.no_top_p = says(lower, "top_p") || says(lower, "topp");
  dialect.no_seed = says(lower, "seed");
  return dialect;
}

}  // namespace nkigrid::model
