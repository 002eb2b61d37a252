#include "runner/device/check/compile_cache.hpp"

namespace nkigrid::device {

bool is_lasting(const CompileResult& result) noexcept {
  const auto code = result.diagnostic.code;
  return code != Code::infra && code != Code::compile_timeout && code != Code::compiler_internal;
}

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
    if (ages_.size() > capacity_) {
      slots_.erase(ages_.back());
      ages_.pop_back();
    }
  } else {
    slots_.erase(key);
  }
  changed_.notify_all();
  return result;
}

}  // namespace nkigrid::device
