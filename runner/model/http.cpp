#include "runner/model/http.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <curl/curl.h>
#include <fmt/format.h>

#include "jobs/base/error.hpp"

namespace nkigrid::model {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostBodyBytes = 64U << 20U;
constexpr std::size_t kMostHeaderBytes = 1U << 20U;  // trailers among them, of which libcurl takes any number
constexpr int kPollMilliseconds = 200;

/// One wrapper for every curl call that sets something up.
void check(CURLcode code, const char* doing) {
  if (code != CURLE_OK) throw Error(ErrorCode::internal, fmt::format("{}: {}", doing, curl_easy_strerror(code)));
}
void check(CURLMcode code, const char* doing) {
  if (code != CURLM_OK) throw Error(ErrorCode::internal, fmt::format("{}: {}", doing, curl_multi_strerror(code)));
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  check(curl_easy_setopt(easy, option, value), "cannot set up a request");
}

void start_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] { check(curl_global_init(CURL_GLOBAL_DEFAULT), "cannot start libcurl"); });
}

struct Received {
  HttpAnswer answer;
  std::array<char, CURL_ERROR_SIZE> words{};  ///< libcurl's own of this very transfer: host, port, what TLS found
  Steady::time_point last_byte = Steady::now();
  bool begun = false;
  std::size_t header_bytes = 0;  ///< of this answer, those of interim ones too
};

std::size_t on_body(char* data, std::size_t, std::size_t bytes, void* user) {
  auto& received = *static_cast<Received*>(user);
  received.last_byte = Steady::now();
  received.begun = true;
  if (received.answer.body.size() + bytes > kMostBodyBytes) return 0;
  received.answer.body.append(data, bytes);
  return bytes;
}

std::size_t on_header(char* data, std::size_t, std::size_t bytes, void* user) {
  auto& received = *static_cast<Received*>(user);
  received.last_byte = Steady::now();
  received.begun = true;
  received.header_bytes += bytes;
  if (received.header_bytes > kMostHeaderBytes) return 0;
  std::string_view line(data, bytes);
  if (line.starts_with("HTTP/")) received.answer.headers.clear();  // an interim response went before
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bytes;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front())) != 0) value.remove_prefix(1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) value.remove_suffix(1);
  received.answer.headers[name] = std::string(value);
  return bytes;
}

Transport transport_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Transport::answered;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:  // no wait mends a certificate; nothing was sent
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return Transport::unreachable;
    case CURLE_OPERATION_TIMEDOUT:
      return Transport::timed_out;
    default:
      return Transport::broken;
  }
}

long milliseconds(Seconds time) { return std::max(1L, static_cast<long>(time.count() * 1000)); }

/// The proxy that the environment names, as host and port; "": none. @source curl(1), ENVIRONMENT
std::string proxy_named() {
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view proxy(value);
    return fmt::format("{}={}", name, proxy.substr(std::min(proxy.rfind('@') + 1, proxy.size())));  // less a password
  }
  return "";
}

std::string words_of(CURLcode code, const Received& received, const HttpOptions& options) {
  std::string words = received.words[0] != '\0' ? received.words.data() : curl_easy_strerror(code);
  const auto proxy = options.direct ? "" : proxy_named();
  return proxy.empty() ? words : fmt::format("{}; the environment says {}", words, proxy);
}

enum class Method { get, post };

struct Handle {
  CURL* easy = nullptr;
  CURLM* multi = nullptr;

  Handle() : easy(curl_easy_init()), multi(curl_multi_init()) {
    if (easy == nullptr || multi == nullptr)
      throw Error(ErrorCode::internal, "libcurl gives no handle (out of memory)");
  }
  ~Handle() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  Handle(const Handle&) = delete;

  void set_up(Method method, const HttpRequest& request, const HttpOptions& options, curl_slist* headers,
              Received& received) const {
    curl_easy_reset(easy);
    set(easy, CURLOPT_URL, request.url.c_str());
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_ERRORBUFFER, received.words.data());
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_ACCEPT_ENCODING, "");  // gateways compress although nobody asked: all that libcurl can read
    if (method == Method::post) {
      set(easy, CURLOPT_POST, 1L);
      set(easy, CURLOPT_POSTFIELDS, request.body.c_str());
      set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    set(easy, CURLOPT_HTTPHEADER, headers);
    set(easy, CURLOPT_TIMEOUT_MS, milliseconds(options.timeout));
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(std::min(options.connect_timeout, options.timeout)));
    set(easy, CURLOPT_FRESH_CONNECT, options.fresh_connection ? 1L : 0L);
    if (options.direct) set(easy, CURLOPT_NOPROXY, "*");
    set(easy, CURLOPT_WRITEFUNCTION, on_body);
    set(easy, CURLOPT_WRITEDATA, &received);
    set(easy, CURLOPT_HEADERFUNCTION, on_header);
    set(easy, CURLOPT_HEADERDATA, &received);
  }

  /// The transfer's end, if it has come.
  std::optional<CURLcode> finished() const {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    return std::nullopt;
  }

  /// Moves bytes until the transfer ends, stands still or is stopped. A plain reply is silent until it is ready, so
  /// silence counts only after its first byte; libcurl's own low-speed watchdog cannot tell the two apart.
  void drive(const HttpOptions& options, const std::stop_token& stop, Received& received) const {
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi); });
    std::optional<Steady::time_point> stopped;
    for (;;) {
      int running = 0;
      check(curl_multi_perform(multi, &running), "cannot move a request");
      if (const auto code = finished()) {
        received.answer.transport = transport_of(*code);
        if (*code != CURLE_OK) received.answer.problem = words_of(*code, received, options);
        return;
      }
      const auto now = Steady::now();
      if (received.begun && now - received.last_byte > options.idle_timeout) {
        received.answer.transport = Transport::timed_out;
        received.answer.problem = fmt::format("the answer stood still for {:.1f} s", options.idle_timeout.count());
        return;
      }
      if (stop.stop_requested() && !stopped) stopped = now;
      if (stopped && now - *stopped >= options.stop_grace) {
        received.answer.transport = Transport::interrupted;
        return;
      }
      check(curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr), "cannot wait for a request");
    }
  }
};

class CurlClient final : public HttpClient {
 public:
  CurlClient() { start_curl_once(); }

  HttpAnswer post(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) override {
    return ask(Method::post, request, options, stop);
  }
  HttpAnswer get(const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) override {
    return ask(Method::get, request, options, stop);
  }

 private:
  /// A handle of one's own as long as a request lasts.
  std::unique_ptr<Handle> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Handle>();
    auto handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }

  void give_back(std::unique_ptr<Handle> handle) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

  HttpAnswer ask(Method method, const HttpRequest& request, const HttpOptions& options, const std::stop_token& stop) {
    auto handle = take();
    Received received;
    // "expect:" takes away curl's own: a server that does not know 100-continue would cost a second a request.
    curl_slist* list = curl_slist_append(nullptr, "expect:");
    for (const HeaderLine& header : request.headers)
      list = curl_slist_append(list, fmt::format("{}: {}", header.name, header.value).c_str());
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);
    handle->set_up(method, request, options, headers.get(), received);
    check(curl_multi_add_handle(handle->multi, handle->easy), "cannot start a request");
    handle->drive(options, stop, received);
    check(curl_easy_getinfo(handle->easy, CURLINFO_RESPONSE_CODE, &received.answer.status), "cannot read a status");
    check(curl_multi_remove_handle(handle->multi, handle->easy), "cannot end a request");
    give_back(std::move(handle));
    return std::move(received.answer);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace
}  // namespace nkigrid::model

/// What load_http.cpp looks for in the plugin.
extern "C" [[gnu::visibility("default")]] nkigrid::model::HttpClient* nkigrid_make_http_client() {
  return std::make_unique<nkigrid::model::CurlClient>().release();
}
