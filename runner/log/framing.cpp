#include "runner/log/framing.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/bytes.hpp"

namespace nkigrid::log {
namespace {

constexpr std::string_view kMagic = "NKIGJRNL";
constexpr std::uint16_t kUnsealedMinor = 1;
enum Kind : std::uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

std::uint32_t crc(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}
bool all_zero(std::string_view bytes) noexcept { return bytes.find_first_not_of('\0') == std::string_view::npos; }

/// The first bytes of a journal, of whatever version.
bool is_prologue(std::string_view bytes) noexcept {
  return bytes.size() == kPrologueBytes && bytes.starts_with(kMagic) &&
         get<std::uint32_t>(bytes, 12) == crc(bytes.substr(0, 12));
}

/// True for a version that we read. @pre is_prologue()
bool is_read(std::string_view bytes) noexcept {
  return get<std::uint16_t>(bytes, 8) == kJournalMajor && get<std::uint16_t>(bytes, 10) <= kJournalMinor;
}

/// The first block from `at` on that has data, or where the file ends: a hole may be of any number of gigabytes, and is
/// not read. Where a file system knows no holes: `at`. Moves the descriptor's place.
/// @pre `at` is where a block begins
off_t block_with_data(int fd, off_t at) noexcept {
  const auto data = ::lseek(fd, at, SEEK_DATA);
  if (data >= at) return data / kBlockBytes * kBlockBytes;
  return errno == ENXIO ? std::max(at, ::lseek(fd, 0, SEEK_END)) : at;
}

/// True when a fragment stands where a journal's first one, or that of one of its blocks, would.
bool has_fragment(int fd) noexcept {
  const auto here = ::lseek(fd, 0, SEEK_CUR);
  std::array<char, kHeadBytes> bytes{};
  const std::string_view head(bytes.data(), bytes.size());
  bool found = false;
  for (off_t at = kPrologueBytes; !found; at = block_with_data(fd, (at / kBlockBytes + 1) * kBlockBytes)) {
    if (::pread(fd, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size())) break;
    found = get<std::uint32_t>(head, 0) == crc(head.substr(4));
  }
  ::lseek(fd, here, SEEK_SET);
  return found;
}

void append_fragment(std::string& out, std::uint64_t sequence, Kind kind, std::uint16_t index, std::string_view data) {
  std::string rest;
  put(rest, crc(data));
  put(rest, sequence);
  put(rest, static_cast<std::uint32_t>(data.size()));
  put(rest, static_cast<std::uint8_t>(kind));
  put(rest, std::uint8_t{0});
  put(rest, index);
  put(out, crc(rest));
  out += rest;
  out += data;
}

}  // namespace

struct FrameReader::Head {
  std::uint32_t data_crc;
  std::uint64_t sequence;
  std::uint32_t length;
  std::uint8_t kind;
  std::uint16_t index;
};

std::string prologue(bool sealed) {
  std::string bytes(kMagic);
  put(bytes, kJournalMajor);
  put(bytes, sealed ? kJournalMinor : kUnsealedMinor);
  put(bytes, crc(bytes));
  return bytes;
}

bool is_journal_of_other_version(const std::filesystem::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw_errno(errno, "open", file.native());
  std::array<char, kPrologueBytes> bytes{};
  const auto got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  const std::string_view start(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return is_prologue(start) && !is_read(start);
}

std::uint64_t append_frame(std::string& out, std::uint64_t offset, std::uint64_t sequence, std::string_view payload) {
  std::uint16_t index = 0;
  bool first = true;
  while (!payload.empty()) {
    const std::size_t room = kBlockBytes - offset % kBlockBytes;
    if (room <= kHeadBytes) {
      out.append(room, '\0');
      offset += room;
      continue;
    }
    const auto data = payload.substr(0, room - kHeadBytes);
    payload.remove_prefix(data.size());
    const Kind kind = payload.empty() ? (first ? kWhole : kLast) : (first ? kFirst : kMiddle);
    append_fragment(out, sequence, kind, index++, data);
    offset += kHeadBytes + data.size();
    first = false;
  }
  return offset;
}

FrameReader::FrameReader(int fd, std::filesystem::path name) : fd_(fd), name_(std::move(name)) {
  read_block();
  read_prologue();
}

/// After a block of nothing but zeros: moves over those that are holes.
void FrameReader::skip_hole() noexcept {
  const auto here = ::lseek(fd_, 0, SEEK_CUR);
  if (here < 0 || here % static_cast<off_t>(kBlockBytes) != 0) return;
  const auto there = block_with_data(fd_, here);
  ::lseek(fd_, there, SEEK_SET);
  zeros_ += static_cast<std::uint64_t>(there - here);
}

bool FrameReader::read_block() {
  const bool empty = size_ == kBlockBytes && all_zero({block_.data(), size_});
  size_ = at_ = 0;
  if (last_block_) return false;
  if (empty) skip_hole();
  while (size_ < kBlockBytes) {
    const auto got = ::read(fd_, block_.data() + size_, kBlockBytes - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(errno, "read journal", name_.native());
    if (got == 0) break;
    size_ += static_cast<std::size_t>(got);
  }
  last_block_ = size_ < kBlockBytes;
  return size_ > 0;
}

void FrameReader::read_prologue() {
  const std::string_view bytes(block_.data(), size_);
  const auto start = bytes.substr(0, kPrologueBytes);
  if (is_prologue(start)) {
    if (!is_read(start)) {
      const auto major = get<std::uint16_t>(bytes, 8), minor = get<std::uint16_t>(bytes, 10);
      throw Error(ErrorCode::corrupt,
                  fmt::format("journal '{}' has version {}.{} (this nkigrid reads {}.0 to {}.{}); use the nkigrid "
                              "that wrote it or a newer one",
                              name_.native(), major, minor, kJournalMajor, kJournalMajor, kJournalMinor));
    }
    at_ = kPrologueBytes;
    return;
  }
  if (size_ < kPrologueBytes && kMagic.starts_with(start.substr(0, kMagic.size()))) {
    torn_ += size_;
    size_ = 0;
    last_block_ = true;
    return;
  }
  // Records prove themselves: they are not given up for the sake of sixteen bytes.
  if (!has_fragment(fd_)) {
    throw Error(ErrorCode::corrupt, fmt::format("not a journal '{}' (it has neither the first bytes of one nor a whole "
                                                "record); `nkigrid seal RUN` sets it aside; "
                                                "what it alone held is run again",
                                                name_.native()));
  }
  damaged_ += kPrologueBytes;
  at_ = kPrologueBytes;
}

/// Nothing follows: what was pending is what a killed writer leaves.
void FrameReader::finish() noexcept {
  torn_ += zeros_ + open_bytes_;
  zeros_ = open_bytes_ = 0;
  assembling_ = false;
}

/// Counts `bytes`, and with them all that was pending, as damage.
void FrameReader::damage(std::uint64_t bytes) noexcept {
  damaged_ += bytes + zeros_ + open_bytes_;
  zeros_ = open_bytes_ = 0;
  assembling_ = false;
}

bool FrameReader::drop_rest_of_block() {
  const std::string_view rest(block_.data() + at_, size_ - at_);
  // Zeros may be the end of a file that was extended before its data came; what follows decides.
  if (all_zero(rest))
    zeros_ += rest.size();
  else
    damage(rest.size());
  at_ = size_;
  return true;
}

/// Moves to the next place where a fragment's head can be read whole. @returns false at the end of the file
bool FrameReader::skip_to_fragment() {
  for (;;) {
    const std::size_t left = size_ - at_;
    if (kBlockBytes - at_ <= kHeadBytes) {
      const std::string_view padding(block_.data() + at_, left);
      if (!all_zero(padding)) damaged_ += padding.size();
    } else if (left >= kHeadBytes) {
      return true;
    } else {
      torn_ += left;  // only the last block is short
    }
    if (!read_block()) return false;
  }
}

bool FrameReader::accept_sequence(std::uint64_t sequence) noexcept {
  if (sequence < next_sequence_) return false;
  missing_ += sequence - next_sequence_;
  next_sequence_ = sequence + 1;
  return true;
}

/// Adds a proven fragment. @returns true when it completes a record
bool FrameReader::take(const Head& head, std::string_view data, std::uint64_t& sequence, std::string& payload) {
  const std::uint64_t bytes = kHeadBytes + data.size();
  if (zeros_ > 0) damage(0);
  const bool begins = head.kind == kWhole || head.kind == kFirst;
  if (begins) {
    if (assembling_) damage(0);
    open_.clear();
    open_sequence_ = head.sequence;
    open_index_ = 0;
  } else if (!assembling_ || head.sequence != open_sequence_ || head.index != open_index_ ||
             open_.size() > kMaxRecordBytes) {
    damage(bytes);
    return false;
  }
  assembling_ = true;
  open_ += data;
  open_bytes_ += bytes;
  ++open_index_;
  if (head.kind == kFirst || head.kind == kMiddle) return false;
  if (!accept_sequence(head.sequence)) {
    damage(0);
    return false;
  }
  assembling_ = false;
  open_bytes_ = 0;
  sequence = head.sequence;
  payload = std::move(open_);
  open_.clear();
  return true;
}

bool FrameReader::next(std::uint64_t& sequence, std::string& payload) {
  while (skip_to_fragment()) {
    const std::string_view block(block_.data(), size_);
    const auto bytes = block.substr(at_, kHeadBytes);
    const Head head{get<std::uint32_t>(bytes, 4), get<std::uint64_t>(bytes, 8), get<std::uint32_t>(bytes, 16),
                    get<std::uint8_t>(bytes, 20), get<std::uint16_t>(bytes, 22)};
    const bool lies = get<std::uint32_t>(bytes, 0) != crc(bytes.substr(4)) || head.length == 0 ||
                      head.length > kBlockBytes - at_ - kHeadBytes || head.kind < kWhole || head.kind > kLast;
    if (lies) {
      drop_rest_of_block();
      continue;
    }
    if (head.length > size_ - at_ - kHeadBytes) {
      if (zeros_ > 0) damage(0);
      torn_ += size_ - at_;
      at_ = size_;
      continue;
    }
    const auto data = block.substr(at_ + kHeadBytes, head.length);
    at_ += kHeadBytes + head.length;
    if (crc(data) != head.data_crc)
      damage(kHeadBytes + head.length);
    else if (take(head, data, sequence, payload))
      return true;
  }
  finish();
  return false;
}

}  // namespace nkigrid::log
