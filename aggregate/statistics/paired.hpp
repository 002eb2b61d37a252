#pragma once

#include <cstdint>

#include "aggregate/statistics/interval.hpp"
#include "aggregate/statistics/sample.hpp"

namespace nkigrid::aggregate {

/// How much of the observed outcome's own probability a p value holds: half of it (mid), or all (exact). The exact one
/// never exceeds its level and is far below it where tasks are few; the mid-p is near it, and how near docs/decisions/
/// intervals.md tabulates.
/// @source Lancaster 1961, JASA 56:223; Fagerland, Lydersen & Laake 2013, BMC Med. Res. Methodol. 13:91
enum class PValue { mid, exact };

/// Two-sided McNemar test: exact min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))), mid 2 P(Bin <= min(b, c)) - P(Bin = min(b,
/// c)), where b = c 1 - P(Bin = b)/2; 1 where no task is discordant.
/// @param b tasks that only the first passes @param c tasks that only the second passes
/// @source McNemar 1947, Psychometrika 12:153, with binomial tails
double mcnemar(std::uint64_t b, std::uint64_t c, PValue kind);

/// The least and the largest exact McNemar p over every number of discordant tasks that two counts allow: a and b
/// passes of the same n tasks. At a given difference D p grows with the number m of discordant tasks, so its ends are
/// those of m's range: p is P(|S_m| >= D) of a simple random walk, and two more steps bring in a quarter of P(|S_m| = D
/// - 2) and take out a quarter of P(|S_m| = D), which is no larger.
Range mcnemar_bounds(std::uint64_t a, std::uint64_t b, std::uint64_t n);

/// Two-sided sign-flip permutation test of the mean paired difference: the share of the 2^m sign patterns of the m
/// nonzero differences whose absolute sum exceeds the observed one, and of those that reach it just so all (exact) or
/// half (mid). All patterns count, none is drawn. At K = 1 it is mcnemar(). 1 where no difference is nonzero.
double sign_flip(const Sample& differences, PValue kind);

}  // namespace nkigrid::aggregate
