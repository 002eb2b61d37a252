#pragma once

#include <memory>

#include "runner/model/http.hpp"

namespace nkigrid::model {

/// The client, from a plugin: libcurl brings thirty libraries, which only a run with an endpoint wants.
/// @throws Error{external} when it is not installed
std::unique_ptr<HttpClient> make_http_client();

}  // namespace nkigrid::model
