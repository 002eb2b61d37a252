#pragma once

#include <memory>
#include <string>

#include "runner/model/http.hpp"
#include "runner/model/servers/replicas.hpp"

namespace nkigrid::model {

/// A client whose requests to `base` (jobs::kept_server_url()) go to a replica of the server that is kept. While none
/// is healthy a request is `broken`, as on a connection that was cut: whoever sent it waits and asks again. Unlike
/// other clients it throws ChatError{fatal} when no replica will be healthy any more.
std::unique_ptr<HttpClient> make_kept_http(std::unique_ptr<HttpClient> inner, std::shared_ptr<Replicas> replicas,
                                           std::string base);

}  // namespace nkigrid::model
