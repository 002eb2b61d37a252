#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/log/seal_key.hpp"

/// The seal at the end of each record of a journal (docs/formats/journal.md, Seals).
namespace nkigrid::log {

/// Appends a record's seal to its payload. Nothing without a key. @param content of the payload as it is
void add_seal(const SealKey& key, std::string_view journal, std::uint64_t sequence, Sha256 content,
              std::string& payload);

/// Proves records as they are read.
class RecordProof {
 public:
  /// @param key none: every record passes @param name the file's, until its header tells another
  RecordProof(const SealKey& key, std::string name) : key_(key), journal_(std::move(name)) {}

  /// True when the key has sealed this record at this place of this journal.
  bool holds(std::uint64_t sequence, std::string_view payload);

 private:
  const SealKey& key_;
  std::string journal_;
};

}  // namespace nkigrid::log
