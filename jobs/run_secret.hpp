#pragma once

#include <filesystem>
#include <string>

namespace nkigrid::jobs {

/// 64 random hex digits in a file that only its owner can read. Never printed, never in an environment, never given to
/// a child.

/// What the last draw of every final check depends on beside the seed, so that a kernel whose author knows the seed
/// does not know all inputs.
inline constexpr const char* kSecretFile = "secret";
/// What seals the log: who has it can write what counts, and prove that nobody else did.
inline constexpr const char* kLogKeyFile = "log_key";

/// Makes the secret of a folder, or reads the one that is there. @throws Error{io}, Error{corrupt} as read_secret()
std::string make_secret(const std::filesystem::path& folder, const char* name = kSecretFile);

/// False for a file that is there and that this user may not read.
bool can_read_secret(const std::filesystem::path& folder, const char* name);

/// @returns "" when there is none. @throws Error{io}; Error{corrupt} for a file that is no secret or that others can
/// read
std::string read_secret(const std::filesystem::path& folder, const char* name = kSecretFile);

}  // namespace nkigrid::jobs
