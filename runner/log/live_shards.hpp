#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "jobs/base/ids.hpp"

namespace nkigrid::log {

/// The name of a journal: which shard its writer works on (none: all), which rank it is, and what tells it from every
/// other.
std::string journal_name(std::optional<ShardId> shard, int rank, std::string_view unique);

/// Shards that some living process writes about.
struct LiveShards {
  bool all = false;  ///< every one: a writer works on the whole run, or its journal does not say on what
  std::set<std::uint32_t> shards = {};

  bool contains(std::uint32_t shard) const { return all || shards.contains(shard); }
};

/// By the names of the journals that are locked (has_living_writer()).
LiveShards live_shards(const std::filesystem::path& folder);

}  // namespace nkigrid::log
