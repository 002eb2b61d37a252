#include "runner/log/text_heap.hpp"

#include "jobs/base/hash.hpp"

namespace nkigrid::log {
namespace {
constexpr std::size_t kBufferBytes = 1 << 20;
}

TextRef TextHeap::add(std::string_view text) {
  if (text.empty()) return {};
  Sha256 hash;
  const auto [known, is_new] =
      known_.try_emplace(hash.update(text).digest(), TextRef{written_ + buffer_.size(), text.size()});
  if (is_new) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  return known->second;
}

void TextHeap::flush() {
  if (buffer_.empty()) return;
  h5::append_bytes(dataset_, written_, buffer_);
  written_ += buffer_.size();
  buffer_.clear();
}

void TextHeap::close() {
  flush();
  dataset_.close();
}

}  // namespace nkigrid::log
