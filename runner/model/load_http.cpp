#include "runner/model/load_http.hpp"

#include "jobs/base/plugin.hpp"

namespace nkigrid::model {

std::unique_ptr<HttpClient> make_http_client() {
  const auto entry = reinterpret_cast<HttpClient* (*)()>(load_plugin("nkigrid_http.so", "nkigrid_make_http_client"));
  return std::unique_ptr<HttpClient>(entry());
}

}  // namespace nkigrid::model
