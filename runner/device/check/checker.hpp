#pragma once

#include <cstdint>
#include <optional>

#include "jobs/grid/grid.hpp"
#include "runner/device/backend.hpp"
#include "runner/device/check/canary.hpp"
#include "runner/device/check/pass.hpp"
#include "runner/device/check/reference.hpp"

namespace nkigrid::device {

/// The parts a check needs, owned by the device. @threads all of them safe
struct CheckerParts {
  Backend& backend;
  ReferenceCache& references;
  const Canary& canary;
  const jobs::CheckSpec& check;
};

/// Runs an artifact on trials 0 .. trials-1 of a stream and compares. @pre trials >= 1. Never throws for what a kernel
/// does; a fault of the machinery is a result with code INFRA. @throws DeviceLost when no check can be made any more
VerifyResult check_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact, Stream stream,
                            std::uint32_t trials, CheckKind kind);

/// Runs trial 0 of `final` again and looks inside. What cannot be seen is left empty. @throws DeviceLost
Inspection inspect_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact,
                            std::optional<std::uint64_t> shuffle_seed);

}  // namespace nkigrid::device
