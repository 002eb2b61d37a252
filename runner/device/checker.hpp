#pragma once

#include "runner/device/backend.hpp"
#include "runner/device/canary.hpp"
#include "runner/device/reference.hpp"

namespace nkigrid::device {

/// The parts a check needs, owned by the device. @threads all of them safe
struct CheckerParts {
  Backend& backend;
  ReferenceCache& references;
  const Canary& canary;
  const jobs::CheckSpec& check;
};

enum class CheckKind {
  tool,   ///< the paper rule on every trial
  final_  ///< both rules, the repeat under the other poison, evidence of cheating
};

/// Runs an artifact on trials 0 .. trials-1 of a stream and compares. @pre trials >= 1. Never throws for what a kernel
/// does; a fault of the machinery is a result with code INFRA. @throws ServerLost when no check can be made any more
VerifyResult check_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact, Stream stream,
                            std::uint32_t trials, CheckKind kind);

/// Runs trial 0 of `final` again and looks inside. What cannot be seen is left empty. @throws ServerLost
Inspection inspect_artifact(const CheckerParts& parts, const jobs::Task& task, const Artifact& artifact,
                            std::optional<std::uint64_t> shuffle_seed);

}  // namespace nkigrid::device
