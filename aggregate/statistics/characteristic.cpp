#include "aggregate/statistics/characteristic.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace nkigrid::aggregate {
namespace {

using Complex = std::complex<double>;

constexpr double kLogOutside = 43;     // -log of the mass that may lie off the circle: 2e-19
constexpr double kNegligible = 1e-19;  // of a frequency's share in any probability

// Written out: the library's product checks for NaN, which costs a call.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// All roots of unity; every 32nd from the library, the others from one product, so that errors do not grow.
std::vector<Complex> roots_of_unity(std::int64_t size) {
  const auto n = static_cast<std::size_t>(size);
  const double angle = 2 * std::numbers::pi / static_cast<double>(size);
  std::vector<Complex> fine(32), roots(n);
  for (std::size_t j = 0; j < fine.size(); ++j) fine[j] = std::polar(1.0, angle * static_cast<double>(j));
  for (std::size_t start = 0; start < n; start += fine.size()) {
    const Complex coarse = std::polar(1.0, angle * static_cast<double>(start));
    for (std::size_t j = 0; j < std::min(fine.size(), n - start); ++j) roots[start + j] = product(coarse, fine[j]);
  }
  return roots;
}

/// Real and imaginary parts apart: the loops over frequencies vectorise.
struct Spectrum {
  std::vector<double> re, im;
  explicit Spectrum(std::size_t size, double value = 0) : re(size, value), im(size, 0.0) {}
};

void multiply(Spectrum& a, const Spectrum& b) {
  const std::size_t size = a.re.size();
  double* __restrict const re = a.re.data();
  double* __restrict const im = a.im.data();
  const double* __restrict const bre = b.re.data();
  const double* __restrict const bim = b.im.data();
  for (std::size_t k = 0; k < size; ++k) {
    const double real = re[k] * bre[k] - im[k] * bim[k];
    im[k] = re[k] * bim[k] + im[k] * bre[k];
    re[k] = real;
  }
}

void square(Spectrum& a) {
  const std::size_t size = a.re.size();
  double* __restrict const re = a.re.data();
  double* __restrict const im = a.im.data();
  for (std::size_t k = 0; k < size; ++k) {
    const double real = (re[k] - im[k]) * (re[k] + im[k]);
    im[k] *= 2 * re[k];
    re[k] = real;
  }
}

// e^(i w_k gap) for the frequencies k = 0 .. size/2.
Spectrum rotation(const std::vector<Complex>& roots, std::size_t frequencies, std::int64_t gap) {
  Spectrum turned(frequencies);
  const auto n = roots.size(), step = static_cast<std::size_t>(gap) % n;
  for (std::size_t k = 0, at = 0; k < frequencies; ++k) {
    turned.re[k] = roots[at].real();
    turned.im[k] = roots[at].imag();
    if ((at += step) >= n) at -= n;
  }
  return turned;
}

// The characteristic function of one summand's (value - values.front())/step, by Horner's rule from the largest value
// down.
Spectrum transform(const Summand& summand, std::int64_t step, const std::vector<Complex>& roots,
                   std::size_t frequencies) {
  Spectrum sum(frequencies, summand.weights.back());
  std::int64_t known_gap = 0;
  Spectrum turn(0);
  for (std::size_t i = summand.values.size() - 1; i-- > 0;) {
    const auto gap = (summand.values[i + 1] - summand.values[i]) / step;
    if (gap != known_gap) turn = rotation(roots, frequencies, known_gap = gap);
    multiply(sum, turn);
    for (auto& re : sum.re) re += summand.weights[i];
  }
  return sum;
}

// total *= base^n. @pre n >= 1
void raise(Spectrum& total, Spectrum base, std::size_t n) {
  for (;; square(base)) {
    if (n & 1) multiply(total, base);
    if ((n /= 2) == 0) return;
  }
}

// phi of the whole sum: summands that repeat equally often are multiplied first and raised once.
Spectrum transform(std::span<const Summand> summands, std::int64_t step, const std::vector<Complex>& roots,
                   std::size_t frequencies) {
  std::map<std::size_t, Spectrum> by_repeats;
  for (const auto& summand : summands) {
    auto one = transform(summand, step, roots, frequencies);
    if (const auto known = by_repeats.find(summand.n); known != by_repeats.end())
      multiply(known->second, one);
    else
      by_repeats.emplace(summand.n, std::move(one));
  }
  Spectrum total(frequencies, 1.0);
  for (auto& [n, base] : by_repeats) raise(total, std::move(base), n);
  return total;
}

struct Moments {
  double mean = 0, variance = 0, range = 0;  ///< of the sum; range: the widest summand's
};

Moments moments_of(std::span<const Summand> summands, std::int64_t step) {
  Moments total;
  for (const auto& summand : summands) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < summand.values.size(); ++i) {
      const double u = static_cast<double>((summand.values[i] - summand.values.front()) / step);
      mean += summand.weights[i] * u;
      square += summand.weights[i] * u * u;
    }
    const auto n = static_cast<double>(summand.n);
    total.mean += n * mean;
    total.variance += n * std::max(0.0, square - mean * mean);
    total.range = std::max(total.range, static_cast<double>((summand.values.back() - summand.values.front()) / step));
  }
  return total;
}

}  // namespace

CharacteristicSum::CharacteristicSum(std::span<const Summand> summands) {
  step_ = 0;
  for (const auto& summand : summands) {
    offset_ += static_cast<std::int64_t>(summand.n) * summand.values.front();
    for (const auto value : summand.values) step_ = std::gcd(step_, value - summand.values.front());
  }
  step_ = std::max<std::int64_t>(step_, 1);
  std::int64_t last = 0;
  for (const auto& summand : summands)
    last += static_cast<std::int64_t>(summand.n) * ((summand.values.back() - summand.values.front()) / step_);

  const auto moments = moments_of(summands, step_);
  const double slack = moments.range * kLogOutside / 3;
  const double reach = slack + std::sqrt(slack * slack + 2 * moments.variance * kLogOutside);
  first_ = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(moments.mean - reach)));
  size_ = std::min(last, static_cast<std::int64_t>(std::ceil(moments.mean + reach))) - first_ + 1;

  roots_ = roots_of_unity(size_);
  const auto frequencies = static_cast<std::size_t>(size_ / 2 + 1);
  const auto total = transform(summands, step_, roots_, frequencies);
  const auto n = static_cast<std::size_t>(size_);
  for (std::size_t k = 1; k < frequencies; ++k) {
    const Complex phi{total.re[k], total.im[k]};
    const double share = (2 * k == n ? 1.0 : 2.0) / static_cast<double>(size_);
    const auto back = std::conj(roots_[k]);
    if (std::abs(phi) * share <= kNegligible * std::abs(1.0 - back)) continue;
    const auto start = std::conj(roots_[static_cast<std::size_t>(static_cast<std::uint64_t>(k) *
                                                                 static_cast<std::uint64_t>(first_ % size_) % n)]);
    kept_.push_back({k, share * product(phi, start) / (1.0 - back)});
  }
}

// P(U <= reduced): the sum over k of phi(w_k)/N times the geometric sum of e^(-i w_k u), u = first .. reduced.
double CharacteristicSum::cumulated(std::int64_t reduced) const {
  if (reduced < first_) return 0;
  if (reduced >= first_ + size_ - 1) return 1;
  const auto count = static_cast<std::uint64_t>(reduced - first_ + 1), n = static_cast<std::uint64_t>(size_);
  double sum = static_cast<double>(count) / static_cast<double>(size_);
  for (const auto& [k, factor] : kept_) {
    const auto root = roots_[static_cast<std::size_t>(k * count % n)];
    // Re(factor (1 - conj(root)))
    sum += factor.real() * (1 - root.real()) - factor.imag() * root.imag();
  }
  return std::clamp(sum, 0.0, 1.0);
}

std::int64_t CharacteristicSum::reduced_floor(std::int64_t point) const noexcept {
  const auto shifted = point - offset_;
  return shifted >= 0 ? shifted / step_ : -((-shifted + step_ - 1) / step_);
}

}  // namespace nkigrid::aggregate
