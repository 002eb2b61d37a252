#pragma once

#include <map>
#include <memory>

namespace nkigrid::aggregate {

/// Values made of one source, each once: by the function that makes it. What was handed out stays where it is as long
/// as the memo lives. @threads one
template <class Source>
class Memo {
 public:
  template <class Value>
  const Value& get(Value (*make)(const Source&), const Source& source) {
    const auto key = reinterpret_cast<Maker>(make);
    auto found = made_.find(key);
    if (found == made_.end()) found = made_.emplace(key, std::make_shared<const Value>(make(source))).first;
    return *static_cast<const Value*>(found->second.get());
  }

 private:
  using Maker = void (*)();
  std::map<Maker, std::shared_ptr<const void>> made_;
};

}  // namespace nkigrid::aggregate
