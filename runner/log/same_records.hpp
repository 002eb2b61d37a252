#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "runner/log/records.hpp"
#include "runner/log/seal_key.hpp"

namespace nkigrid::log {

/// How the records of one file stand to those of others, texts and all.
struct Overlap {
  std::uint64_t same = 0;   ///< that the others hold too, byte for byte
  std::uint64_t other = 0;  ///< that the others tell differently: of the same attempt, kind and turn
  std::uint64_t alone = 0;  ///< that no other has
};

/// Reads `file` and `others` (segments or journals) whole. Memory: 16 bytes a record of the others.
/// @throws Error{io, corrupt}
Overlap compare_records(const SealKey& key, const std::filesystem::path& file,
                        const std::vector<std::filesystem::path>& others);

/// A hash of what a record is of (its attempt, kind and turn: no attempt has two of one name), and of all that it says.
std::size_t name_of(const Record& record);
std::size_t digest_of(const Record& record);

/// Every record of a file, segment or journal, with its sequence number. @throws Error{io, corrupt}
void read_file_records(const SealKey& key, const std::filesystem::path& file,
                       const std::function<void(std::uint64_t, Record&&)>& visit);

}  // namespace nkigrid::log
