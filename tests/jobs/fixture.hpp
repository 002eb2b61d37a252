#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "jobs/base/files.hpp"
#include "jobs/grid/grid.hpp"

namespace nkigrid::jobs {

/// A copy of tests/data/jobs that a test may spoil: bench/, prompts/, profiles/, grid.yaml.
class Sandbox {
 public:
  Sandbox() { std::filesystem::copy(NKIGRID_TEST_DATA "/jobs", path(), std::filesystem::copy_options::recursive); }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path grid() const { return path() / "grid.yaml"; }

  void write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name, std::ios::binary) << text;
  }
  std::string read(const std::filesystem::path& name) const { return read_file(path() / name); }

  /// Replaces `what`, which must be there, in a file.
  void edit(const std::filesystem::path& name, const std::string& what, const std::string& by) const {
    auto text = read(name);
    const auto at = text.find(what);
    if (at == std::string::npos) throw std::logic_error("no '" + what + "' in " + name.native());
    write(name, text.replace(at, what.size(), by));
  }

  GridResult read_edited(const std::string& what, const std::string& by) const {
    edit("grid.yaml", what, by);
    return read_grid(grid(), {});
  }

 private:
  TemporaryDirectory folder_{"nkigrid-jobs"};
};

/// "line:col message" of each problem.
inline std::vector<std::string> lines_of(const GridResult& result) {
  std::vector<std::string> lines;
  for (const auto& problem : result.problems) {
    lines.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.col) + " " + problem.message);
  }
  return lines;
}

}  // namespace nkigrid::jobs
