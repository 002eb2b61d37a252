#include "aggregate/fourier.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace nkigrid::aggregate {
namespace {

using Complex = std::complex<double>;

// Written out: the library's product checks for NaN, which costs a call.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Radix-2 transform in place (Cooley & Tukey 1965). Roots come from a table of sines, not from a recurrence,
// to keep full accuracy.
void transform(std::vector<Complex>& x, const std::vector<Complex>& roots) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t stride = n / (2 * half);
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex even = x[start + k], odd = product(roots[k * stride], x[start + k + half]);
        x[start + k] = even + odd;
        x[start + k + half] = even - odd;
      }
    }
  }
}

std::vector<Complex> roots_of_unity(std::size_t n) {
  std::vector<Complex> roots(std::max<std::size_t>(n / 2, 1));
  for (std::size_t k = 0; k < roots.size(); ++k) {
    roots[k] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  }
  return roots;
}

Complex integer_power(Complex base, std::size_t n) {
  Complex result = 1;
  for (; n > 0; n /= 2) {
    if (n & 1) result = product(result, base);
    base = product(base, base);
  }
  return result;
}

}  // namespace

Lattice power_product_by_fourier(std::span<const Power> factors) {
  std::size_t points = 1;
  std::int64_t first = 0;
  for (const auto& factor : factors) {
    points += factor.n * (factor.base.mass.size() - 1);
    first += static_cast<std::int64_t>(factor.n) * factor.base.first;
  }
  const std::size_t size = std::bit_ceil(points);
  const auto roots = roots_of_unity(size);
  std::vector<Complex> spectrum(size, 1.0), one(size);
  for (const auto& factor : factors) {
    std::fill(one.begin(), one.end(), 0.0);
    std::copy(factor.base.mass.begin(), factor.base.mass.end(), one.begin());
    transform(one, roots);
    for (std::size_t i = 0; i < size; ++i)
      spectrum[i] = product(spectrum[i], integer_power(one[i], factor.n));
  }
  // The inverse transform of a real sequence's spectrum is the conjugate of the transform of its conjugate.
  for (auto& value : spectrum) value = std::conj(value);
  transform(spectrum, roots);
  Lattice result{first, std::vector<double>(points)};
  double total = 0;
  for (std::size_t i = 0; i < points; ++i)
    total += result.mass[i] = std::max(0.0, spectrum[i].real() / static_cast<double>(size));
  for (auto& mass : result.mass) mass /= total;
  return result;
}

}  // namespace nkigrid::aggregate
