#include "jobs/base/ids.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

bool is_alnum(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_word(std::string_view text, std::size_t max_size) noexcept {
  return !text.empty() && text.size() <= max_size &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alnum(c) || c == '_' || c == '-'; });
}

}  // namespace

std::string to_string(const EpisodeId& id) { return fmt::format("{}/{}#{}", id.cell, id.task, id.replicate); }

EpisodeId parse_episode_id(std::string_view text) {
  const auto slash = text.find('/');
  const auto hash = text.rfind('#');
  EpisodeId id;
  bool ok = slash != std::string_view::npos && hash != std::string_view::npos && slash < hash;
  if (ok) {
    id.cell = text.substr(0, slash);
    id.task = text.substr(slash + 1, hash - slash - 1);
    const auto digits = text.substr(hash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.replicate);
    ok = error == std::errc{} && end == digits.data() + digits.size() && id.replicate >= 1 && is_task_id(id.task);
  }
  if (!ok) {
    throw Error(
        ErrorCode::usage,
        fmt::format("not an episode id '{}' (cell/task#replicate, e.g. novice.ss.rank-aware/L1/002_gelu#1)", text));
  }
  return id;
}

bool is_name(std::string_view text) noexcept { return is_word(text, 40) && is_alnum(text.front()); }

bool is_task_id(std::string_view text) noexcept {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && is_word(text.substr(0, slash), 24) && is_word(text.substr(slash + 1), 64);
}

}  // namespace nkigrid
