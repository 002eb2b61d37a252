#include "runner/model/servers/health.hpp"

#include <utility>

#include "runner/model/load_http.hpp"

namespace nkigrid::model {
namespace {

constexpr Seconds kPatience{2};

/// A server that knows no /health.
bool is_unknown(long status) { return status == 404 || status == 405 || status == 501; }

}  // namespace

Health::Health(const jobs::ServerSpec& spec, std::string address)
    : http_(make_http_client()),
      address_(std::move(address)),
      list_(spec.path + "/models"),
      path_(spec.health.empty() ? "/health" : spec.health) {}

bool Health::ask() {
  const HttpRequest request{.url = address_ + path_, .headers = {}, .body = {}};
  const auto answer = http_->get(request, {.timeout = kPatience, .connect_timeout = kPatience, .direct = true}, {});
  if (answer.transport != Transport::answered) return false;
  if (answer.status == 200) return true;
  if (path_ == list_) return answer.status == 401 || answer.status == 403;
  if (path_ == "/health" && is_unknown(answer.status)) path_ = list_;
  return false;
}

}  // namespace nkigrid::model
