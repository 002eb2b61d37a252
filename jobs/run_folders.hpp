#pragma once

#include <filesystem>

namespace nkigrid::jobs {

/// Nothing of a run is written or read through a link to elsewhere: a run may be a stranger's. Whoever opens a run, or
/// its log alone, calls it first. @throws Error{io} naming the folder of the run that is a link
void require_own_folders(const std::filesystem::path& run);

/// A folder of the run that a verb writes what it makes into (tables, figures, report), made if it is not there. That
/// it is a link stops that verb alone. @throws Error{io}
std::filesystem::path make_own_folder(const std::filesystem::path& run, const char* name);

}  // namespace nkigrid::jobs
