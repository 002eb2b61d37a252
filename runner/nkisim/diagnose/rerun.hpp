#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runner/nkisim/engine/run.hpp"

/// Runs of one program beside the one that counts, into memory of their own, and what differs between two. Internal to
/// the room.
namespace nkigrid::nkisim {

/// Outputs of one run.
struct Outputs {
  std::vector<std::vector<std::byte>> bytes;
  RunReport report;
};

/// Where two runs differ. NaNs are all alike.
struct Difference {
  std::size_t output = 0;
  std::uint64_t first = 0;  ///< row-major element
  double before = 0, after = 0;
  double most = 0;  ///< largest |after - before| over the largest finite |before|; infinite where one alone is finite
};

/// Runs the program again and again, as long as a budget of work lasts. The budget is counted, not timed: what a
/// diagnosis says never depends on the machine.
class Reruns {
 public:
  Reruns(const Program& program, std::span<const std::span<const std::byte>> inputs, const Poison& poison,
         const RunLimits& limits);

  /// Nothing when the budget of a diagnosis is spent.
  std::optional<Outputs> run(RunOptions options = {});
  std::optional<Difference> difference(const Outputs& before, const Outputs& after) const;

 private:
  const Program& program_;
  std::span<const std::span<const std::byte>> inputs_;
  Poison poison_;
  RunLimits limits_;
  double work_, spent_ = 0;  ///< of one run, of all so far [element operations]
};

}  // namespace nkigrid::nkisim
