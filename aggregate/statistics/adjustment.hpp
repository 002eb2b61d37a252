#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nkigrid::aggregate {

/// Holm's step-down adjustment, in the order of `p`. @param family tests in the family; at least p.size(),
/// more when some have no p yet and must not make the others look better
/// @source Holm 1979, Scand. J. Stat. 6:65
std::vector<double> holm(std::span<const double> p, std::size_t family);

/// Benjamini and Hochberg's step-up adjustment (false discovery rate), in the order of `p`; `family` as in
/// holm(): tests without a p yet count as if they had p = 1.
/// @source Benjamini & Hochberg 1995, JRSS-B 57:289
std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

}  // namespace nkigrid::aggregate
