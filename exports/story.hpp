#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/log/history.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/records.hpp"

namespace nkigrid::exports {

/// All that the log holds of one planned episode.
struct Story {
  std::uint32_t place = 0;             ///< in plan.episodes
  std::optional<log::End> end;         ///< of the attempt that counts, its texts included; absent: outstanding
  std::vector<log::LoggedTurn> turns;  ///< of that attempt, with what it inherited; of the newest where none counts

  /// True when every turn that the verdict rests on is here, answered: damage may have taken some.
  bool is_whole() const noexcept;
};

/// Reads episodes with their turns and tells of each, in the order of `places`. Memory: that of about two thousand
/// episodes' texts.
/// @param places indices into run.plan.episodes
/// @throws Error{io}, Error{corrupt} as read_log(), and what `visit` throws
void visit_stories(const jobs::Run& run, const log::Ledger& ledger, std::span<const std::uint32_t> places,
                   const std::function<void(const Story&)>& visit);

}  // namespace nkigrid::exports
