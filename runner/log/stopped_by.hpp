#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "jobs/base/ids.hpp"

namespace nkigrid::log {

/// Notes why the session that owns `shard` (none: all shards) stopped early; "" clears the note and leaves its room: a
/// session clears its own note when it begins, so that a disk which fills later still takes the reason. One on all
/// shards removes every other note: what stands there is about the newest session of each shard.
/// RUN/log/stopped_by/shard-K and RUN/log/stopped_by/all. @throws Error{io}
void note_stopped_by(const std::filesystem::path& log_folder, std::optional<ShardId> shard, const std::string& reason);

/// The same on the way out of a failure, which no second one may hide: what keeps the note from being written is not
/// told.
void note_failure(const std::filesystem::path& log_folder, std::optional<ShardId> shard,
                  const std::string& reason) noexcept;

/// By shard, when the session on it noted that it begins nothing more [Unix s]. What "all" notes is about no element.
std::map<std::uint32_t, double> stopped_shards(const std::filesystem::path& log_folder);

/// All notes as one text: the reason itself where there is one reason only, else each with its shards. "": none.
/// @throws Error{io}
std::string read_stopped_by(const std::filesystem::path& log_folder);

}  // namespace nkigrid::log
