#pragma once

#include <map>
#include <optional>

#include "jobs/base/clock.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::runner {

/// Tells a rank that died from one that has nothing to say, where MPI does not: `mpirun --continuous` keeps the
/// survivors, and they would wait for it for ever. Rank 0 and every other rank watch each other.
/// @threads the main thread of a rank
class Heartbeat {
 public:
  static constexpr Seconds kBeat{10};     ///< between signs of life
  static constexpr Seconds kSilent{120};  ///< after so long without one a rank is lost
  static constexpr Seconds kBusy{
      1800};  ///< the same for one that has not begun, or that seals: it says nothing meanwhile

  Heartbeat(mpi::Comm& comm, const Clock& clock);

  /// To be called with every message. @returns true when it was a sign of life and nothing else
  bool took(const mpi::Incoming& message);

  /// Gives a sign of life when one is due. @returns a rank that is lost
  std::optional<int> look();

  /// Tells that this rank seals and will be silent.
  void before_sealing();

 private:
  struct Peer {
    Seconds heard;
    bool busy = true;
  };
  void tell(int tag);

  mpi::Comm& comm_;
  const Clock& clock_;
  std::map<int, Peer> peers_;  ///< by rank
  Seconds looked_, told_;
};

}  // namespace nkigrid::runner
