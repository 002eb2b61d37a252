#pragma once

#include <filesystem>
#include <memory>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::model {

/// The synthetic model as any other: its permit is held while it thinks. Parameters: make_models().
/// @throws Error{config} for a missing profile, or a benchmark without known kernels
std::unique_ptr<ChatModel> make_synthetic(const jobs::ModelSpec& spec, const jobs::Synthetic& api,
                                          const jobs::Benchmark& benchmark, const std::filesystem::path& profiles,
                                          Permits* permits);

}  // namespace nkigrid::model
