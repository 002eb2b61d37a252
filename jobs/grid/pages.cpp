#include "jobs/grid/pages.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "jobs/base/foreign_files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::jobs {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostPages = 1000, kMostPageBytes = std::size_t{1} << 20, kMostBytes = std::size_t{16} << 20;

/// Names of everything in a folder but hidden files. A link is named like a file, so that reading it is refused: what
/// stands behind it is not this folder's. @throws fs::filesystem_error
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
    const bool is_folder = at->is_directory() && !at->is_symlink();
    if (at->path().filename().native().starts_with(".")) {
      if (is_folder) at.disable_recursion_pending();
      continue;
    }
    if (is_folder) continue;
    names.push_back(at->path().lexically_relative(folder).native());
    if (names.size() > kMostPages)
      throw Error(ErrorCode::config,
                  fmt::format("'{}' holds more than {} files; name a smaller folder", folder.native(), kMostPages));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<Page> read_pages(const fs::path& folder) {
  std::vector<Page> pages;
  std::size_t bytes = 0;
  for (const auto& name : names_in(folder)) {
    pages.push_back({name, read_foreign_file(folder, name, kMostPageBytes)});
    bytes += pages.back().text.size();
    if (to_valid_utf8(pages.back().text) != pages.back().text || to_valid_utf8(name) != name)
      throw Error(ErrorCode::config, fmt::format("'{}' is not UTF-8", (folder / name).native()));
    if (bytes > kMostBytes)
      throw Error(ErrorCode::config,
                  fmt::format("'{}' holds more than {} MiB; name a smaller folder", folder.native(), kMostBytes >> 20));
  }
  if (pages.empty()) throw Error(ErrorCode::config, fmt::format("'{}' holds no file to read", folder.native()));
  return pages;
}

std::string hash_of(const std::vector<Page>& pages) {
  Sha256 hash;
  for (const auto& page : pages) hash.field(page.name).field(page.text);
  return hash.hex();
}

}  // namespace nkigrid::jobs
