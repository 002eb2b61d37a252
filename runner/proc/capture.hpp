#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jobs/base/hash.hpp"

namespace nkigrid::proc {

/// Keeps the head and the tail of an endless stream in bounded memory.
class HeadTail {
 public:
  /// @param keep_bytes most bytes kept [B]; half head, half tail
  explicit HeadTail(std::size_t keep_bytes) : head_limit_(keep_bytes / 2), tail_limit_(keep_bytes - keep_bytes / 2) {}

  void add(std::string_view bytes);
  std::uint64_t total_bytes() const noexcept { return total_; }
  /// Head, a line "... [N bytes left out] ..." where something is missing, tail. Raw bytes: not cut on character
  /// borders.
  std::string text() const;
  std::string sha256();  ///< of the whole stream; call once, at its end

 private:
  std::size_t head_limit_, tail_limit_;
  std::string head_;
  std::string ring_;  // the last tail_limit_ bytes after the head, rotated by ring_start_
  std::size_t ring_start_ = 0;
  std::uint64_t total_ = 0;
  Sha256 hash_;
};

}  // namespace nkigrid::proc
