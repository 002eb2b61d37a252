#include "jobs/grid/prompts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::jobs {
namespace {

/// What a part's file name says.
struct PartName {
  std::string_view stem;
  std::uint32_t rank = 0;  ///< 0: any
};

/// `NAME.md` or `NAME.rank-N.md`; nothing for another name.
std::optional<PartName> part_name(std::string_view file) {
  constexpr std::string_view kEnd = ".md", kRank = ".rank-";
  if (!file.ends_with(kEnd) || file.size() == kEnd.size() || file.find('/') != std::string_view::npos)
    return std::nullopt;
  file.remove_suffix(kEnd.size());
  const auto at = file.find(kRank);
  if (at == std::string_view::npos) return PartName{file, 0};
  PartName name{file.substr(0, at), 0};
  const auto digits = file.substr(at + kRank.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), name.rank);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && name.rank > 0 && !name.stem.empty() ? std::optional(name) : std::nullopt;
}

}  // namespace

PromptSpec read_prompt_folder(const std::filesystem::path& folder) {
  PromptSpec prompt;
  prompt.file = folder;
  prompt.parts = read_pages(folder);
  for (const auto& part : prompt.parts) {
    if (!part_name(part.name))
      throw Error(ErrorCode::config, fmt::format("'{}' is no part of a prompt (NAME.md or NAME.rank-N.md is wanted)",
                                                 (folder / part.name).native()));
    prompt.text += part.text;
  }
  return prompt;
}

std::string text_for(const PromptSpec& prompt, const Task& task) {
  if (prompt.parts.empty()) return prompt.text;
  const std::size_t rank = rank_of(task);
  const auto has_own = [&](std::string_view stem) {
    return std::any_of(prompt.parts.begin(), prompt.parts.end(), [&](const auto& part) {
      const auto name = part_name(part.name);
      return name && name->stem == stem && name->rank == rank;
    });
  };
  std::string text;
  for (const auto& part : prompt.parts) {
    const auto name = part_name(part.name);
    if (name && (name->rank == 0 ? rank == 0 || !has_own(name->stem) : name->rank == rank)) text += part.text;
  }
  return text;
}

std::string hash_of(const PromptSpec& prompt) {
  return prompt.parts.empty() ? sha256_hex(prompt.text) : hash_of(prompt.parts);
}

}  // namespace nkigrid::jobs
