#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nkigrid::jobs {

/// A file of a folder that a grid names, for models to read.
struct Page {
  std::string name;  ///< relative to its folder, with /
  std::string text;  ///< UTF-8
};

/// All files of a folder and those below it, sorted by name, without hidden ones. Regular files of this folder alone,
/// at most 1,000 of 1 MiB, 16 MiB together: models read pages of a few kilobytes, and a run keeps a copy.
/// @throws Error, std::filesystem::filesystem_error: a link, a pipe, a text that is not UTF-8, too much, nothing at all
std::vector<Page> read_pages(const std::filesystem::path& folder);

/// SHA-256 (hex) of names and texts, for keys.
std::string hash_of(const std::vector<Page>& pages);

}  // namespace nkigrid::jobs
