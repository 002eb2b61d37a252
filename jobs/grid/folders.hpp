#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/grid/problems.hpp"

namespace nkigrid::jobs {

/// Where a grid's files are looked for.
struct Folders {
  std::filesystem::path base;  ///< first: the grid file's folder, or RUN/inputs of a frozen grid
  std::filesystem::path
      configs;  ///< then: what the project ships; empty for a frozen grid, which needs nothing from outside
  std::vector<std::filesystem::path> beside =
      {};  ///< by Place::source: the folder of each text that the grid is put together from; none: `base`

  /// The same for a value at `place`: what a file names stands beside that file, whoever includes it.
  Folders of(Place place) const;

  /// The path of an existing file or folder, or nothing.
  std::optional<std::filesystem::path> find(const std::filesystem::path& name) const;
  /// " (did you mean 'x'?)" where something of a near name, with the same extension, stands where `name` was looked
  /// for; else "". x is what may stand in place of `name`.
  std::string near(const std::filesystem::path& name) const;
  /// The same for a value that is the file's stem alone.
  std::string near_stem(const std::filesystem::path& name) const;
  /// " (looked in A and B)", for messages.
  std::string looked_in() const;

 private:
  std::vector<std::string> beside_of(const std::filesystem::path& name) const;
};

}  // namespace nkigrid::jobs
