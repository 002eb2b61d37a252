#include "jobs/base/key_like.hpp"

#include <algorithm>
#include <array>

namespace nkigrid {
namespace {

/// @source the providers' pages on authentication: OpenAI, Anthropic, OpenRouter and DeepSeek (sk-), Groq, xAI, NVIDIA,
/// Hugging Face, Google, AWS, GitHub, GitLab, Perplexity, Fireworks, Together, Replicate; eyJ: a JSON web token
constexpr std::array<std::string_view, 20> kBeginnings = {
    "sk-",  "sk_",  "pk-",  "rk_",         "gsk_",   "xai-",  "nvapi-", "hf_",  "AIza", "AKIA",
    "ASIA", "ghp_", "gho_", "github_pat_", "glpat-", "pplx-", "fw_",    "tgp_", "r8_",  "eyJ"};
constexpr std::size_t kLeastRest = 8;  // characters behind the beginning

bool is_of_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

bool looks_like_key(std::string_view word) noexcept {
  const auto end = std::find_if_not(word.begin(), word.end(), is_of_word);
  const auto length = static_cast<std::size_t>(end - word.begin());
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
    return word.starts_with(beginning) && length >= beginning.size() + kLeastRest;
  });
}

std::string without_key_like(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = is_of_word(text[at]) && (at == 0 || !is_of_word(text[at - 1]));
    if (!begins || !looks_like_key(std::string_view(text).substr(at))) continue;
    auto end = at;
    while (end < text.size() &&
           (is_of_word(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_of_word(text[end + 1]))))
      ++end;
    text.replace(at, end - at, "[key]");
  }
  return text;
}

}  // namespace nkigrid
