#pragma once

#include <cstdint>

#include "aggregate/statistics/bootstrap.hpp"

namespace nkigrid::aggregate {

/// Exact two-sided McNemar test: min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))); 1 when nothing is discordant.
/// @param b tasks that only the first passes @param c tasks that only the second passes
/// @source McNemar 1947, Psychometrika 12:153, with exact binomial tails
double mcnemar_exact(std::uint64_t b, std::uint64_t c);

/// The least and the largest mcnemar_exact() over every number of discordant tasks that two counts allow: a and b
/// passes of the same n tasks. At a given difference D p grows with the number m of discordant tasks, so its ends are
/// those of m's range: p is P(|S_m|
/// >= D) of a simple random walk, and two more steps bring in a quarter of P(|S_m| = D - 2) and take out a quarter of
/// P(|S_m| = D), which is no larger.
Range mcnemar_bounds(std::uint64_t a, std::uint64_t b, std::uint64_t n);

/// Exact two-sided sign-flip permutation test of the mean paired difference: the share of the 2^m sign
/// patterns of the m nonzero differences whose absolute sum reaches the observed one. All patterns count,
/// none is drawn. At K = 1 it is mcnemar_exact().
double sign_flip(const Sample& differences);

}  // namespace nkigrid::aggregate
