#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/proc/shared_memory.hpp"

namespace nkigrid::device {

/// Where one tensor lies in a cache file.
struct TensorPlace {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;  ///< from the start of the file [B]
  std::size_t bytes = 0;
};

/// A cache file of the reference worker, opened and proved whole (docs/formats/reference_cache.md).
struct TensorFile {
  Fd fd;  ///< read only
  proc::Mapping mapping;
  std::vector<TensorPlace> tensors;

  std::span<const std::byte> bytes_of(std::size_t tensor) const {
    return mapping.bytes().subspan(tensors.at(tensor).offset, tensors.at(tensor).bytes);
  }
};

/// Opens a cache file and checks its digest. @returns nothing when there is none, or it is cut, damaged or foreign: the
/// caller makes it anew. Never throws for what the file holds.
std::optional<TensorFile> open_tensor_file(const std::filesystem::path& path);

}  // namespace nkigrid::device
