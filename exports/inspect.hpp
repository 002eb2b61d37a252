#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "exports/story.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::exports {

/// Writes the episodes of one cell as an `.eval` log of inspect_ai (docs/formats/exports.md): a sample an episode, its
/// task the id, its replicate the epoch. Memory holds the samples' summaries alone.
class InspectLog {
 public:
  /// @param path of the file; it is there after finish() @throws Error{io}
  InspectLog(const jobs::Run& run, std::uint32_t cell, const std::filesystem::path& path);
  ~InspectLog();

  /// An episode of the cell, scored or not: what has no verdict is no sample, and the log then says `started`.
  void add(const Story& story);
  void finish();
  std::uint64_t samples() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nkigrid::exports
