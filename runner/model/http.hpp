#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/base/clock.hpp"
#include "runner/model/retry_after.hpp"

namespace nkigrid::model {

/// How a request ended when it is no HTTP answer.
enum class Transport {
  answered,
  unreachable,  ///< no usable URL, name not found, connection refused, no route: nothing was sent
  broken,       ///< reset, cut, garbage, too long: the server may have worked on it
  timed_out,    ///< the deadline, or a body that stood still
  interrupted   ///< the stop token fired
};

struct HttpAnswer {
  Transport transport = Transport::answered;
  std::string problem;  ///< libcurl's words when not answered
  long status = 0;
  Headers headers;
  std::string body;
};

struct HeaderLine {
  std::string name, value;
};

/// What is POSTed.
struct HttpRequest {
  std::string url;
  std::vector<HeaderLine> headers;
  std::string body;
};

struct HttpOptions {
  Seconds timeout{600};  ///< from the first connect to the last byte
  Seconds connect_timeout{10};
  Seconds idle_timeout{60};       ///< longest silence once the answer has begun
  Seconds stop_grace{20};         ///< what a request in flight may still take after a stop: its reply is paid for
  bool fresh_connection = false;  ///< not over one that was kept
};

/// Posts over libcurl with kept-alive connections. @threads post() from any number of threads; each call takes a handle
/// of its own.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;

  /// Never throws for what the network does. @throws Error{internal} when libcurl cannot be set up
  HttpAnswer post(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop);

 private:
  struct Handle;
  std::unique_ptr<Handle> take();
  void give_back(std::unique_ptr<Handle> handle);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace nkigrid::model
