#pragma once

#include <filesystem>
#include <string>

namespace nkigrid::jobs {

/// What the last draw of every final check depends on beside the seed, so that a kernel whose author knows the seed
/// does not know all inputs: 64 random hex digits in `folder`/secret, which only its owner can read. Never printed,
/// never in an environment, never given to a child.

/// Makes the secret of a folder, or reads the one that is there. @throws Error{io}, Error{corrupt} as read_secret()
std::string make_secret(const std::filesystem::path& folder);

/// @returns "" when there is none. @throws Error{io}; Error{corrupt} for a file that is no secret or that others can
/// read
std::string read_secret(const std::filesystem::path& folder);

}  // namespace nkigrid::jobs
