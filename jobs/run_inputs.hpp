#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "jobs/plan.hpp"

namespace nkigrid::jobs {

/// Every file of RUN/inputs, as it shall stand there: path relative to RUN/inputs -> bytes.
std::map<std::string, std::string> input_files(const Grid& grid, const Benchmark& benchmark, const Plan& plan);

inline constexpr const char* kIndexInput = "benchmark/index.json";
inline constexpr const char* kAboutInput = "benchmark/about.json";

/// SHA-256 (hex) of those files that a key depends on. A grown run changes none of them, so a crash in
/// mid-growth leaves the old run whole. The index may grow; each of its entries is part of a key. What is said of
/// tasks for people (about.json), and prompts and profiles that no cell uses, may change.
std::map<std::string, std::string> frozen_hashes(const Grid& grid, const std::map<std::string, std::string>& files);

/// Writes files that differ from what stands there, each whole or not at all, then makes all durable.
/// @throws Error{io}
void write_inputs(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

/// @throws Error{corrupt} naming the file when one is missing or differs from its frozen hash.
void verify_inputs(const std::filesystem::path& folder, const std::map<std::string, std::string>& hashes);

/// RUN/plan/plan.json.
std::string plan_to_json(const Plan& plan, const std::string& hash, const std::vector<PlanExtent>& grown_from);
/// The extents of plan.json. @throws Error{corrupt} when it is none, or lacks a key that `plan` has.
std::vector<PlanExtent> extents_from_json(const std::string& text, const std::filesystem::path& file);
void verify_plan_json(const std::string& text, const Plan& plan, const std::filesystem::path& file);

}  // namespace nkigrid::jobs
