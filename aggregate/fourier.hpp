#pragma once

#include <cstddef>
#include <span>

#include "aggregate/lattice.hpp"

namespace nkigrid::aggregate {

/// One factor of a product of convolution powers.
struct Power {
  Lattice base;
  std::size_t n = 1;
};

/// The sum of n independent draws from each base, through the discrete Fourier transform: for lattices so
/// fine that direct products would take seconds. Each mass has an absolute error of about 1e-15, so tails
/// below 1e-12 are not to be trusted.
/// @pre the sum's points number at most 2^22
Lattice power_product_by_fourier(std::span<const Power> factors);

}  // namespace nkigrid::aggregate
