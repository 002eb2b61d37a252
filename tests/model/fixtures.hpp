#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "jobs/base/files.hpp"
#include "jobs/benchmark.hpp"

namespace nkigrid::test {

inline std::string case_text(const std::string& name) {
  return read_file(std::filesystem::path(NKIGRID_TEST_DATA) / "cases" / name);
}
inline nlohmann::json case_json(const std::string& name) { return nlohmann::json::parse(case_text(name)); }

inline std::filesystem::path profiles_folder() {
  return std::filesystem::path(NKIGRID_SOURCE_DIR) / "configs" / "profiles";
}

inline const jobs::Benchmark& seed_benchmark() {
  static const jobs::Benchmark benchmark =
      jobs::load_benchmark({std::filesystem::path(NKIGRID_SOURCE_DIR) / "configs" / "nkigen-bench"});
  return benchmark;
}

}  // namespace nkigrid::test
