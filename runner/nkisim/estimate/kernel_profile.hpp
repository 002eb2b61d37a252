#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/estimate/timeline.hpp"

/// Where a kernel's estimated time goes: what `kernel --profile` prints and profile_kernel answers.
/// docs/decisions/estimate.md
namespace nkigrid::nkisim {

inline constexpr std::array<std::string_view, kLaneCount> kLaneNames{"dma", "tensor", "scalar", "vector", "gpsimd"};

struct KernelProfile {
  Profile sums;
  Timeline timeline;
};

/// @param program bytes of the sim backend's artifact @throws Error{corrupt}
KernelProfile profile_kernel(const std::string& program);
/// The lane that is busy longest.
std::size_t bound_of(const KernelProfile& profile);
/// Of the played time, the part in which a lane was at work.
double played_share(const KernelProfile& profile, std::size_t lane);
nlohmann::ordered_json to_json(const KernelProfile& profile);
/// to_json() with the kernel's lines that take longest and the timeline's first operations: at most 12 KiB.
std::string profile_text(const KernelProfile& profile);
/// The timeline in the trace event format that chrome://tracing and ui.perfetto.dev open.
std::string trace_events(const KernelProfile& profile);

}  // namespace nkigrid::nkisim
