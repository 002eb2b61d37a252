#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace nkigrid::device {

/// What the draws of inputs and weights follow from (docs/formats/run_directory.md, Secret).
struct DrawSource {
  DrawSource(std::uint64_t seed_of_run, std::string secret_of_run = {})  // NOLINT: a seed alone is a source
      : seed(seed_of_run), secret(std::move(secret_of_run)) {}

  std::uint64_t seed = 0;  ///< the grid's: public
  std::string secret;      ///< the last trial of the final check follows from it too; "": from the seed, as all others
};

}  // namespace nkigrid::device
