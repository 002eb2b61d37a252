#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

/// The journal's bytes below the records: prologue, blocks, fragments (docs/formats/journal.md).
namespace nkigrid::log {

inline constexpr std::size_t kBlockBytes = 32768;
inline constexpr std::size_t kPrologueBytes = 16;
inline constexpr std::size_t kHeadBytes = 24;
inline constexpr std::size_t kMaxRecordBytes = std::size_t{256} << 20;
inline constexpr std::uint16_t kJournalMajor = 1;
inline constexpr std::uint16_t kJournalMinor = 2;  ///< the newest that is read

/// The first bytes of a journal. @param sealed its records have seals: who knows none of them must not read it
std::string prologue(bool sealed);

/// True when a file is a journal of a version that this nkigrid does not read: not damaged, and not ours to touch.
/// @throws Error{io}
bool is_journal_of_other_version(const std::filesystem::path& file);

/// Appends one record's fragments to `out`, which continues a file at `offset`. @returns the file offset
/// after them.
std::uint64_t append_frame(std::string& out, std::uint64_t offset, std::uint64_t sequence, std::string_view payload);

/// Gives back whole records of a journal in order, block by block: memory does not grow with the file.
class FrameReader {
 public:
  /// Reads the prologue; a damaged one before whole fragments counts as damage. @param fd borrowed, at offset 0; `name`
  /// is for messages.
  /// @throws Error{corrupt} when it is no journal, or one of a version that cannot be read; Error{io}.
  FrameReader(int fd, std::filesystem::path name);

  /// The next whole record, or false at the end. @throws Error{io}
  bool next(std::uint64_t& sequence, std::string& payload);

  /// Counts a record whose payload proved undecodable as damage.
  void count_damage(std::uint64_t bytes) noexcept { damaged_ += bytes; }

  std::uint64_t torn_bytes() const noexcept { return torn_; }
  std::uint64_t damaged_bytes() const noexcept { return damaged_; }
  std::uint64_t missing_records() const noexcept { return missing_; }

 private:
  struct Head;
  void skip_hole() noexcept;
  bool read_block();
  void read_prologue();
  void finish() noexcept;
  void damage(std::uint64_t bytes) noexcept;
  bool skip_to_fragment();
  bool drop_rest_of_block();
  bool take(const Head& head, std::string_view data, std::uint64_t& sequence, std::string& payload);
  bool accept_sequence(std::uint64_t sequence) noexcept;

  int fd_;
  std::filesystem::path name_;
  std::array<char, kBlockBytes> block_;
  std::size_t size_ = 0, at_ = 0;  ///< bytes in block_, place in it
  bool last_block_ = false;

  std::string open_;  ///< fragments of a record whose last is to come
  bool assembling_ = false;
  std::uint64_t open_sequence_ = 0;
  std::uint16_t open_index_ = 0;
  std::uint64_t open_bytes_ = 0;  ///< file bytes of the open fragments

  std::uint64_t zeros_ = 0;  ///< zeros since the last fragment: torn tail if nothing follows, else damage
  std::uint64_t next_sequence_ = 0;
  std::uint64_t torn_ = 0, damaged_ = 0, missing_ = 0;
};

}  // namespace nkigrid::log
