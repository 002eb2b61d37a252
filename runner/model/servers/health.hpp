#pragma once

#include <memory>
#include <string>

#include "jobs/grid/server.hpp"
#include "runner/model/http.hpp"

namespace nkigrid::model {

/// Asks a server whether it works, without a key.
class Health {
 public:
  Health(const jobs::ServerSpec& spec, std::string address);
  /// True when it answers 200; of the list of models also 401 and 403: it is there and wants a key. Takes two seconds
  /// at the most.
  bool ask();

 private:
  std::unique_ptr<HttpClient> http_;
  std::string address_, list_;
  std::string path_;
};

}  // namespace nkigrid::model
