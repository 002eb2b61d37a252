#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/statistics/bootstrap.hpp"

namespace nkigrid::aggregate {

/// Exact two-sided McNemar test: min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))); 1 when nothing is discordant.
/// @param b tasks that only the first passes @param c tasks that only the second passes
/// @source McNemar 1947, Psychometrika 12:153, with exact binomial tails
double mcnemar_exact(std::uint64_t b, std::uint64_t c);

/// Exact two-sided sign-flip permutation test of the mean paired difference: the share of the 2^m sign
/// patterns of the m nonzero differences whose absolute sum reaches the observed one. All patterns count,
/// none is drawn. At K = 1 it is mcnemar_exact().
double sign_flip(const Sample& differences);

/// Holm's step-down adjustment, in the order of `p`. @param family tests in the family; at least p.size(),
/// more when some have no p yet and must not make the others look better
/// @source Holm 1979, Scand. J. Stat. 6:65
std::vector<double> holm(std::span<const double> p, std::size_t family);

/// Benjamini and Hochberg's step-up adjustment (false discovery rate), in the order of `p`; `family` as in
/// holm(): tests without a p yet count as if they had p = 1.
/// @source Benjamini & Hochberg 1995, JRSS-B 57:289
std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

}  // namespace nkigrid::aggregate
