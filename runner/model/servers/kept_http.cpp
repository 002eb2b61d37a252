#include "runner/model/servers/kept_http.hpp"

#include <utility>

#include "runner/model/chat.hpp"

namespace nkigrid::model {
namespace {

class KeptHttp final : public HttpClient {
 public:
  KeptHttp(std::unique_ptr<HttpClient> inner, std::shared_ptr<Replicas> replicas, std::string base)
      : inner_(std::move(inner)), replicas_(std::move(replicas)), base_(std::move(base)) {}

  HttpAnswer post(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) override {
    return at_replica(request, [&](const HttpRequest& moved) { return inner_->post(moved, direct(options), stop); });
  }
  HttpAnswer get(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) override {
    return at_replica(request, [&](const HttpRequest& moved) { return inner_->get(moved, direct(options), stop); });
  }

 private:
  static HttpOptions direct(HttpOptions options) {
    options.direct = true;
    return options;
  }

  template <class Ask>
  HttpAnswer at_replica(HttpRequest request, const Ask& ask) {
    const auto place = replicas_->take();
    if (!place) {
      if (replicas_->lost()) throw ChatError(ChatFailure::fatal, replicas_->trouble());
      HttpAnswer none;
      none.transport = Transport::broken;
      none.problem = replicas_->trouble();
      return none;
    }
    request.url = place->address + request.url.substr(base_.size());
    HttpAnswer answer = ask(request);
    const bool answered = answer.transport == Transport::answered || answer.transport == Transport::interrupted;
    replicas_->give_back(*place, answered);
    // It answered its keeper: one that does not let us in has just died, and is not a wrong address.
    if (answer.transport == Transport::unreachable) answer.transport = Transport::broken;
    return answer;
  }

  std::unique_ptr<HttpClient> inner_;
  std::shared_ptr<Replicas> replicas_;
  std::string base_;
};

}  // namespace

std::unique_ptr<HttpClient> make_kept_http(std::unique_ptr<HttpClient> inner, std::shared_ptr<Replicas> replicas,
                                           std::string base) {
  return std::make_unique<KeptHttp>(std::move(inner), std::move(replicas), std::move(base));
}

}  // namespace nkigrid::model
