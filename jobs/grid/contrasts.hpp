#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/grid/yaml_reader.hpp"

namespace nkigrid::jobs {

/// What compares cells. @param benchmark of the cells; null where they, or what they are made of, have a problem: which
/// cells there are is then not known, and what names one is not judged by it (one mistake, one problem).
std::vector<Contrast> read_contrasts(const YamlNode& node, const Grid& grid, const Benchmark* benchmark,
                                     Problems& problems);
/// Each model and each mode that a cell uses against the first listed, others equal.
std::vector<Contrast> default_contrasts(const Grid& grid);
/// @param cells_known as the benchmark of read_contrasts()
std::map<std::string, std::map<std::string, std::vector<std::string>>> read_factors(const YamlNode& node,
                                                                                    const Grid& grid, bool cells_known,
                                                                                    Problems& problems);

}  // namespace nkigrid::jobs
