#include "runner/log/derived_columns.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "runner/log/columns.hpp"
#include "runner/log/segment_table.hpp"

namespace nkigrid::log {
namespace {

/// What repeats, beside what it repeats.
struct EpisodeNames {
  EpisodeId episode;
  std::string cell, task, group;
  std::uint32_t replicate = 0;
  Code code = Code::none;
};
template <class Visitor>
void columns(EpisodeNames& row, Visitor& v) {
  v.column("episode", row.episode);
  v.column("cell", row.cell);
  v.column("task", row.task);
  v.column("replicate", row.replicate);
  v.column("code", row.code);
  v.column("group", row.group);
}

struct AttemptNames {
  EpisodeId episode;
  std::string key;
  std::uint32_t attempt = 0;
};
template <class Visitor>
void columns(AttemptNames& row, Visitor& v) {
  v.column("episode", row.episode);
  v.column("key", row.key);
  v.column("attempt", row.attempt);
}

struct TurnNames {
  AttemptNames attempt;
  std::uint32_t attempt_row = 0;
  std::string group;
  Code code = Code::none;
};
template <class Visitor>
void columns(TurnNames& row, Visitor& v) {
  columns(row.attempt, v);
  v.column("attempt_row", row.attempt_row);
  v.column("code", row.code);
  v.column("group", row.group);
}

void prove_episodes(const h5::File& file) {
  SegmentTable<EpisodeNames> table(file, "episodes");
  for (std::uint64_t i = 0; i < table.rows(); ++i) {
    EpisodeNames row;
    table.read(i, row);
    if (EpisodeId{row.cell, row.task, row.replicate} != row.episode)
      throw_contradiction(i, "episode and cell, task, replicate");
    if (row.group != group_of(row.code)) throw_contradiction(i, "group and code");
  }
}

void prove_turns(const h5::File& file) {
  SegmentTable<AttemptNames> attempts(file, "attempts");
  std::vector<AttemptNames> ids(attempts.rows());
  for (std::uint64_t i = 0; i < ids.size(); ++i) attempts.read(i, ids[i]);
  SegmentTable<TurnNames> table(file, "turns");
  for (std::uint64_t i = 0; i < table.rows(); ++i) {
    TurnNames row;
    table.read(i, row);
    if (row.attempt_row >= ids.size()) throw_no_attempt(i, row.attempt_row);
    const auto& id = ids[row.attempt_row];
    const auto& named = row.attempt;
    if (std::tie(named.episode, named.key, named.attempt) != std::tie(id.episode, id.key, id.attempt))
      throw_contradiction(i, "attempt_row and episode, key, attempt");
    if (row.group != group_of(row.code)) throw_contradiction(i, "group and code");
  }
}

}  // namespace

void prove_derived_columns(const std::filesystem::path& segment, const SealKey& key) {
  OpenSegment(segment, key).read([](const h5::File& file) {
    prove_episodes(file);
    prove_turns(file);
  });
}

}  // namespace nkigrid::log
