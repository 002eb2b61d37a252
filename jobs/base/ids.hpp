#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace nkigrid {

/// A number that does not convert into another kind of number.
template <class Tag>
struct Id {
  std::uint32_t value = 0;
  auto operator<=>(const Id&) const = default;
};
using ShardId = Id<struct ShardTag>;  ///< from 0; one Slurm array element
using Rank = Id<struct RankTag>;      ///< from 0; one MPI process of an element

/// The unit of work: (cell, task, replicate). Text form `cell/task#replicate`, e.g. `novice.ss.naive/L1/002_gelu#1`.
struct EpisodeId {
  std::string cell;             ///< `model.mode.prompt`
  std::string task;             ///< `L1/002_gelu`
  std::uint32_t replicate = 1;  ///< from 1

  auto operator<=>(const EpisodeId&) const = default;
};

/// Most bytes an episode id's text form may have.
inline constexpr std::size_t kMaxEpisodeIdBytes = 240;

std::string to_string(const EpisodeId& id);

/// @throws Error{usage} when `text` is not `cell/task#replicate`.
EpisodeId parse_episode_id(std::string_view text);

/// True for `[A-Za-z0-9][A-Za-z0-9_-]{0,39}`: names of models, modes and prompts.
bool is_name(std::string_view text) noexcept;

/// True for `[A-Za-z0-9_-]{1,24}/[A-Za-z0-9_-]{1,64}`.
bool is_task_id(std::string_view text) noexcept;

}  // namespace nkigrid

template <class Tag>
struct std::hash<nkigrid::Id<Tag>> {
  std::size_t operator()(const nkigrid::Id<Tag>& id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
