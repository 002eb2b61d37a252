#pragma once

#include <chrono>
#include <cstddef>

namespace nkigrid::proc {

struct EndBounds {
  std::chrono::milliseconds stopping{5000};  ///< until everybody must stand still
  std::chrono::milliseconds killing{3000};   ///< more, until everybody must be gone
};

/// Ends every descendant of this process, whatever group or session it joined. All are stopped first, in passes until
/// one finds nobody new and nobody running, and killed then: who starts others anew when they end does not see them end
/// (docs/decisions/sandbox.md). Where that takes too long they are killed as they are found.
/// This process must be their subreaper (prctl(2)); whoever of them is left afterwards is its child.
/// @returns how many were seen that could not be ended in time, 0 when nobody is left
/// @source proc(5): children, stat
std::size_t end_descendants(const EndBounds& bounds = {});

/// Reaps whoever left an orphan to us and has ended, `but` excepted; waits for nobody.
void reap_orphans(int but);

}  // namespace nkigrid::proc
