#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "runner/device/values.hpp"

namespace nkigrid::device {

/// Results of compiles by (source, entry, task): the same source has the same artifact, and is compiled once even when
/// two lanes ask at the same time. What it keeps is bounded in bytes: a model decides how large a kernel becomes.
/// @threads safe
class CompileCache {
 public:
  explicit CompileCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The known result, or that of `compile`. A result that may come out otherwise next time (see is_lasting) is not
  /// kept.
  CompileResult get(const std::string& key, const std::function<CompileResult()>& compile);

 private:
  struct Slot {
    bool ready = false;
    CompileResult result;
    std::list<std::string>::iterator age;
  };
  void drop_oldest();

  std::size_t most_bytes_, bytes_ = 0;  // of ready slots
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Slot> slots_;
  std::list<std::string> ages_;  // of ready slots, newest first
};

/// False for what depends on the moment: the machinery's failures, timeouts, children that died.
bool is_lasting(const CompileResult& result) noexcept;

}  // namespace nkigrid::device
