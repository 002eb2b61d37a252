#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/log/seal_key.hpp"

/// The seal in front of a segment (docs/formats/segment.md, Seal): a digest a block, so that a reader proves what it
/// reads and no more, and over them one HMAC.
namespace nkigrid::log {

inline constexpr std::uint64_t kSealBlockBytes = 4096;  ///< lost with one damaged byte of it

struct FrontSeal {
  std::uint64_t front_bytes = 0;    ///< before the HDF5 file's first byte
  std::uint64_t content_bytes = 0;  ///< of the HDF5 file
  std::vector<Mac> blocks;          ///< SHA-256 of each kSealBlockBytes of it; the last may be shorter
  Mac mac = {};                     ///< names the file among all that this key has sealed
};

/// @returns the bytes that stand before `content`; "" without a key
std::string make_front(const SealKey& key, std::string_view content);

/// The seal's name as hex. @param front as made; "": ""
std::string seal_of_front(std::string_view front);

/// @returns nothing where `key` has not sealed the file that begins so. @param fd any offset @throws Error{io}
std::optional<FrontSeal> read_front(int fd, const SealKey& key, const std::filesystem::path& name);

/// True when the key, if there is one, has sealed this segment. What follows the seal is proven when it is read.
/// @throws Error{io}
bool is_sealed_by(const SealKey& key, const std::filesystem::path& segment);

}  // namespace nkigrid::log
