#pragma once

namespace nkigrid::aggregate {

/// A probability with its complement, both to full relative accuracy: 1 - 1e-20 is a number only in the
/// second form.
struct Probability {
  double below = 0, above = 1;
};

/// Standard normal distribution function at z, with its complement.
Probability normal_cdf(double z) noexcept;

/// z with normal_cdf(z) = p, from the smaller of the two tails. @pre 0 < p.below, 0 < p.above
double normal_quantile(Probability p);

/// The two-sided critical value, e.g. 1.959964 for 0.95.
double critical_value(double confidence);

}  // namespace nkigrid::aggregate
