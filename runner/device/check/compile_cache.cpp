#include "runner/device/check/compile_cache.hpp"

namespace nkigrid::device {

bool is_lasting(const CompileResult& result) noexcept {
  const auto code = result.diagnostic.code;
  return code != Code::infra && code != Code::compile_timeout && code != Code::compiler_internal;
}

namespace {

/// What a kept result holds in memory [bytes]; the maps' own nodes are counted as a page's share.
std::size_t weight_of(const std::string& key, const CompileResult& result) {
  constexpr std::size_t kNodes = 256;
  std::size_t bytes = kNodes + sizeof result + 3 * key.size() + result.diagnostic.message.size();
  for (const auto& warning : result.warnings) bytes += sizeof warning + warning.size();
  if (result.artifact)
    bytes += sizeof(Artifact) + result.artifact->bytes.size() + result.artifact->entry.size() +
             result.artifact->source_hash.size();
  return bytes;
}

}  // namespace

CompileResult CompileCache::get(const std::string& key, const std::function<CompileResult()>& compile) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = slots_.find(key);
    if (found == slots_.end()) break;
    if (found->second.ready) {
      ages_.splice(ages_.begin(), ages_, found->second.age);
      return found->second.result;
    }
    changed_.wait(lock);  // another lane compiles it; if that does not last, this one tries
  }
  slots_[key];
  lock.unlock();
  CompileResult result;
  try {
    result = compile();
  } catch (...) {
    lock.lock();
    slots_.erase(key);
    changed_.notify_all();
    throw;
  }
  lock.lock();
  if (is_lasting(result)) {
    ages_.push_front(key);
    slots_[key] = {true, result, ages_.begin()};
    bytes_ += weight_of(key, result);
    drop_oldest();
  } else {
    slots_.erase(key);
  }
  changed_.notify_all();
  return result;
}

void CompileCache::drop_oldest() {
  while (bytes_ > most_bytes_) {
    const auto oldest = slots_.find(ages_.back());
    bytes_ -= weight_of(oldest->first, oldest->second.result);
    slots_.erase(oldest);
    ages_.pop_back();
  }
}

}  // namespace nkigrid::device
