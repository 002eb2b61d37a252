#include "runner/log/live_shards.hpp"

#include <charconv>
#include <system_error>

#include <fmt/core.h>

#include "runner/log/file_lock.hpp"

namespace nkigrid::log {
namespace {

/// Nothing where the name is none of journal_name(), or says all.
std::optional<std::uint32_t> shard_of(std::string_view name) {
  std::uint32_t shard = 0;
  if (name.empty() || name.front() != 's') return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), shard);
  const bool is_ours = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return is_ours ? std::optional(shard) : std::nullopt;
}

}  // namespace

std::string journal_name(std::optional<ShardId> shard, int rank, std::string_view unique) {
  return fmt::format("{}-r{}-{}", shard ? fmt::format("s{}", shard->value) : std::string("all"), rank, unique);
}

LiveShards live_shards(const std::filesystem::path& folder) {
  LiveShards live;
  for (const auto& name : living_writers(folder)) {
    if (const auto shard = shard_of(name))
      live.shards.insert(*shard);
    else
      live.all = true;
  }
  return live;
}

}  // namespace nkigrid::log
