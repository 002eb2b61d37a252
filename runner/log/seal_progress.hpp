#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "jobs/base/clock.hpp"

namespace nkigrid::log {

/// Hears how far the sealing of a journal is, in records, some thousand records apart. Empty: nobody listens.
using SealProgress = std::function<void(const std::string& journal, std::uint64_t done, std::uint64_t records)>;

/// Tells it on stderr every five seconds, for the first time after five: a large log takes minutes.
/// @param clock outlives the result
SealProgress tell_seal_progress(const Clock& clock);

}  // namespace nkigrid::log
