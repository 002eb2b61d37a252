#pragma once

#include <cstdint>

namespace nkigrid::aggregate {

/// Fisher's exact two-sided test of two independent counts: the probability, all passes given, of every table that is
/// no likelier than the observed one. @param a, b passes @param n_a, n_b tasks
/// @source Fisher 1935, JRSS 98:39; the two-sided form of R's fisher.test
double fisher_exact(std::uint64_t a, std::uint64_t n_a, std::uint64_t b, std::uint64_t n_b);

}  // namespace nkigrid::aggregate
