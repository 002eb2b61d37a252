#pragma once

#include <cstdint>
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

/// What is sent.
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
  bool direct = false;            ///< past any proxy that the environment names: the server is one of ours
};

/// Asks over libcurl with kept-alive connections. @threads any number of them at once
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// POSTs. Never throws for what the network does. @throws Error{internal} when libcurl cannot be set up
  virtual HttpAnswer post(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) = 0;
  /// GETs: the request's body is not looked at. As post() otherwise.
  virtual HttpAnswer get(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) = 0;
};

}  // namespace nkigrid::model
