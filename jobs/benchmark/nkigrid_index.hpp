#pragma once

#include <map>
#include <string>

#include "jobs/benchmark.hpp"

namespace nkigrid::jobs {

/// A benchmark, whatever its format was, as a folder of our own (docs/formats/benchmark.md): path below it -> bytes.
/// Known kernels are left out.
std::map<std::string, std::string> own_format_files(const Benchmark& benchmark);

}  // namespace nkigrid::jobs
