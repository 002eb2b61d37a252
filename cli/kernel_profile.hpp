#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/estimate/timeline.hpp"

/// What `kernel --profile` says of where a kernel's estimated time goes. docs/decisions/estimate.md
namespace nkigrid::cli {

struct KernelProfile {
  nkisim::Profile sums;
  nkisim::Timeline timeline;
};

/// @param program bytes of the sim backend's artifact @throws Error{corrupt}
KernelProfile profile_kernel(const std::string& program);
void print_profile(const KernelProfile& profile);
nlohmann::ordered_json to_json(const KernelProfile& profile);
/// The timeline in the trace event format that chrome://tracing and ui.perfetto.dev open.
std::string trace_events(const KernelProfile& profile);

}  // namespace nkigrid::cli
