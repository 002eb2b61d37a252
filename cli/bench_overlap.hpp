#pragma once

#include <string>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {

struct Overlap {
  std::string a, b;       ///< benchmarks, or folders of Python files; `b` empty: inside `a`
  double near = 0.7;      ///< shared 5-grams over all of both, from which two texts are near
  bool behaviour = true;  ///< run tasks, too
  bool json = false;
};

/// `bench overlap`: which tasks of `a` have a duplicate in `b`: the same program, nearly the same text, or the same
/// results. @returns 0 when there is none, 1 when there is
ExitCode find_overlap(const Overlap& wanted);

}  // namespace nkigrid::cli
