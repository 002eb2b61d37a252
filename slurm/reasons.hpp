#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nkigrid::slurm {

/// Why a job waits or has failed, and what its user can do about it.
struct Reason {
  std::string words, advice;  ///< "" where there is nothing to say, or nothing but to wait
};

/// What a job that waits for others is said to wait for. Which ones its kind of job decides: elements.hpp.
inline constexpr std::string_view kWaitsForOthers = "waits for other jobs of the run";

/// @param number Slurm's job_state_reason @param description Slurm's own words: why it held a job itself, and what a
/// number means that we do not know. JOB in an advice stands for the job's id.
Reason reason_of(std::uint32_t number, std::string_view description = {});

/// What to do about an error of a call: the key of the grid that it is about, else `doctor`.
std::string_view advice_for_error(int error);

}  // namespace nkigrid::slurm
