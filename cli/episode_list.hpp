#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exports/chosen.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::cli {

/// A line of `show RUN CELL`: an episode and what became of it.
struct ListedEpisode {
  std::string episode;
  std::string outcome;  ///< of the attempt that counts, "" where none does
  std::string code;     ///< why a kernel failed, or ""
  std::string message;  ///< in words, or ""
  std::string state;    ///< why it is outstanding, or "none"
  std::uint32_t line = 0, turns = 0;
  bool passed = false;
};

/// The episodes of a run, in the plan's order, whose cell, or cell/task, `wanted` is (all where it is ""), of those
/// that are chosen.
/// @throws Error as log::read_ledger()
std::vector<ListedEpisode> list_episodes(const jobs::Run& run, const std::string& wanted,
                                         const exports::Chosen& chosen = {});

/// A line an episode. @param columns of the terminal; messages are cut to it; 0: they stay whole
std::string episodes_text(const std::vector<ListedEpisode>& episodes, std::size_t columns);
std::string episodes_json(const std::vector<ListedEpisode>& episodes);

}  // namespace nkigrid::cli
