#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "jobs/base/outcome.hpp"
#include "runner/agent/session.hpp"
#include "runner/device/device.hpp"
#include "runner/log/records.hpp"

// A kernel's steps on the device, with their entries in the turn's row.
namespace nkigrid::agent {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();  ///< a number that nobody measured

/// Thrown inside the room when the machinery failed: the attempt ends with this outcome.
struct InfraStop {
  Outcome outcome = Outcome::verifier_error;
  std::string reason;
};

/// The reason and outcome of an INFRA diagnostic.
InfraStop infra_stop(const device::Device& device, const device::Diagnostic& diagnostic);

/// A compile of `submission`, timed and written into `turn`. A kernel that this attempt compiled before is not compiled
/// again. @throws InfraStop
void compile_submission(Session& session, Submission& submission, log::Turn& turn);

/// verify_kernel of a compiled `submission`, timed and written into `turn`: times of one turn add up, of its results
/// the last one stands. The same inputs would give the same verdict, so they are not run again. A pass makes the
/// submission the best one. @throws InfraStop
device::VerifyResult verify_submission(Session& session, const Submission& submission, std::uint32_t trials,
                                       log::Turn& turn);

}  // namespace nkigrid::agent
