#pragma once

#include <string>

#include "exports/story.hpp"
#include "jobs/run_directory.hpp"

namespace nkigrid::exports {

/// An episode as a document of the Agent Trajectory Interchange Format, version 1.7 (docs/formats/exports.md).
/// @throws Error{corrupt} for texts that are no transcript
std::string atif_document(const jobs::Run& run, const Story& story);

}  // namespace nkigrid::exports
