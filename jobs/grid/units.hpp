#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/base/clock.hpp"

namespace nkigrid::jobs {

/// Reads a duration with its unit: `120 s`, `500 ms`, `1.5 h`, `15 min`, `2 d`, or a clock form
/// `[D-]HH:MM:SS`.
/// @returns nothing when `text` is none of these; a bare number is none: nobody could tell its unit.
std::optional<Seconds> parse_duration(std::string_view text);

/// The shortest form that parse_duration() reads back exactly: `2 min`, `90 s`, `0.25 s`.
std::string format_duration(Seconds duration);

/// Reads a size with its unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB, and Slurm's K, M, G, T
/// (powers of 1024).
std::optional<std::uint64_t> parse_size_bytes(std::string_view text);

}  // namespace nkigrid::jobs
