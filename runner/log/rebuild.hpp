#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/log/folder.hpp"
#include "runner/log/run_log.hpp"
#include "runner/log/salvage.hpp"

/// Segments made anew in place, under their own names, when their journals are gone.
namespace nkigrid::log {

/// A segment that cannot stay as it is.
struct Misfit {
  Stem stem;  ///< its journal
  std::uint32_t part = 1;
  std::string why;
  std::function<bool(const Record&)> keeps;  ///< what stays of it; empty: all that is whole
};

/// What is whole of it goes into a new segment of its name, if it says that it is the run's; the old one is set aside.
/// @throws Error{io}
Salvaged rebuild(const RunLog& log, const Misfit& misfit);

/// A part that is gone, with its journal: an empty one of its name says how many records it held. @throws Error{io}
Salvaged replace_missing(const RunLog& log, const Misfit& gone);

}  // namespace nkigrid::log
