#include <malloc.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/benchmarks.hpp"
#include "cli/http_server.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/ids.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/model/synthetic/synthetic.hpp"
#include "runner/model/wire/openai_server.hpp"

namespace nkigrid::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostRequestBytes = 8U << 20U;  ///< several times the longest conversation of a grid
constexpr int kBacklog = 1024;                        ///< a run may open all its lanes' connections at once
/// A connection without a request holds a thread for as long [s]; a client that comes later connects anew.
constexpr int kIdleSeconds = 1;

struct ServeOptions {
  std::string benchmark = "nkigen-bench", profiles, host = "127.0.0.1";
  int port = 8000;
  std::size_t threads = 128;  ///< a kept-alive connection holds one
  bool quiet = false;
};

/// The synthetic model behind HTTP: the profile is named by the request's `model`.
class Service {
 public:
  Service(jobs::Benchmark benchmark, fs::path profiles)
      : benchmark_(std::move(benchmark)), profiles_(std::move(profiles)) {}

  void complete(const std::string& body, httplib::Response& response) {
    try {
      const model::ServedRequest served = model::parse_chat_request(body);
      const auto profile = find_profile(served.model);
      if (profile == nullptr) {
        return refuse(response, 404, fmt::format("no model '{}'; GET /v1/models lists the profiles", served.model),
                      "model_not_found");
      }
      const model::ChatReply reply = model::synthetic_reply(*profile, benchmark_, served.request);
      const std::string id = "chatcmpl-" + sha256_hex(body).substr(0, 16);
      response.set_content(model::chat_response_body(reply, served.model, id), "application/json");
    } catch (const model::ChatError& error) {
      refuse(response, 400, error.what(), "unknown_task");
    } catch (const Error& error) {
      refuse(response, error.code() == ErrorCode::usage ? 400 : 500, error.what(), "invalid_request");
    }
  }

  void list_models(httplib::Response& response) const {
    json list = json::array();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(profiles_, ignored)) {
      if (entry.path().extension() != ".yaml") continue;
      list.push_back({{"id", entry.path().stem().string()},
                      {"object", "model"},
                      {"created", 0},
                      {"owned_by", "nkigrid-synthetic"}});
    }
    std::sort(list.begin(), list.end(), [](const json& a, const json& b) { return a["id"] < b["id"]; });
    response.set_content(json{{"object", "list"}, {"data", list}}.dump(), "application/json");
  }

  static void refuse(httplib::Response& response, int status, const std::string& message, const std::string& code) {
    response.status = status;
    response.set_content(model::error_body(message, status < 500 ? "invalid_request_error" : "server_error", code),
                         "application/json");
  }

 private:
  /// @returns null when there is no such profile
  std::shared_ptr<const model::Profile> find_profile(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (const auto it = loaded_.find(name); it != loaded_.end()) return it->second;
    std::error_code ignored;
    if (!is_name(name) || !fs::is_regular_file(profiles_ / (name + ".yaml"), ignored)) return nullptr;
    return loaded_[name] = std::make_shared<const model::Profile>(model::load_profile(profiles_, name));
  }

  jobs::Benchmark benchmark_;
  fs::path profiles_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const model::Profile>> loaded_;
};

/// The body as it comes out of whatever it was sent in: the library's own limit is for a length that is told, and says
/// nothing of chunks or of what unpacks to a thousand times its size. @returns nothing for one that is too large or
/// cut, with the status that says which
std::optional<std::string> body_of(const httplib::ContentReader& read, int& status) {
  std::string body;
  bool fits = true;
  const bool whole = read([&](const char* data, std::size_t bytes) {
    fits = body.size() + bytes <= kMostRequestBytes;
    if (fits) body.append(data, bytes);
    return fits;
  });
  if (!fits) status = 413;
  return whole ? std::optional(std::move(body)) : std::nullopt;
}

void add_routes(httplib::Server& server, Service& service) {
  using httplib::ContentReader, httplib::Request, httplib::Response;
  server.Post("/v1/chat/completions", [&](const Request&, Response& response, const ContentReader& read) {
    if (const auto body = body_of(read, response.status)) service.complete(*body, response);
  });
  const auto not_served = [](const Request&, Response& response, const ContentReader& read) {
    read([](const char*, std::size_t) { return true; });  // the next request of the connection stands behind it
    response.status = 404;
  };
  server.Post(".*", not_served).Put(".*", not_served).Patch(".*", not_served).Delete(".*", not_served);
  server.Get("/v1/models",
             [&](const httplib::Request&, httplib::Response& response) { service.list_models(response); });
  server.Get("/health", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"status":"ok"})", "application/json");
  });
  server.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;
    const bool unknown = response.status == 404;
    const auto text = unknown ? fmt::format("{} {} is not served", request.method, request.path)
                      : response.status == 413
                          ? fmt::format("the request is larger than {} MiB", kMostRequestBytes >> 20)
                          : std::string("the request is not well-formed HTTP");
    Service::refuse(response, response.status, text, unknown ? "not_found" : "invalid_request");
  });
  server.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
    Service::refuse(response, 500, "internal error", "internal");
  });
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

/// Waits for a signal that ends the server. @returns it, or 0 when the token fired first
int wait_for_signal(const sigset_t& set, const std::stop_token& stop) {
  const timespec tick{0, 100'000'000};
  while (!stop.stop_requested()) {
    if (const int signal = ::sigtimedwait(&set, nullptr, &tick); signal > 0) return signal;
  }
  return 0;
}

/// Bodies come and go in any thread: kept in an arena each, a flood's memory would stay for good.
void keep_memory_small() {
  constexpr int kArenas = 4;
  constexpr int kTrimBytes = 1 << 20;
  ::mallopt(M_ARENA_MAX, kArenas);
  ::mallopt(M_TRIM_THRESHOLD, kTrimBytes);
  ::mallopt(M_MMAP_THRESHOLD, kTrimBytes);
}

/// Opens the port with our own backlog: the library's is compiled into it. @returns the port
int bind(httplib::Server& server, const ServeOptions& options) {
  int listener = -1;
  server.set_socket_options([&](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    listener = socket;
  });
  const int port = options.port == 0 ? server.bind_to_any_port(options.host.c_str()) : options.port;
  if (port <= 0 || (options.port != 0 && !server.bind_to_port(options.host.c_str(), options.port)) ||
      ::listen(listener, kBacklog) != 0) {
    throw Error(ErrorCode::external,
                fmt::format("cannot listen on {}:{} (in use, or not allowed); choose another --port, 0 for any",
                            options.host, options.port));
  }
  return port;
}

ExitCode serve(const ServeOptions& options) {
  keep_memory_small();
  Service service(open_benchmark(options.benchmark),
                  options.profiles.empty() ? jobs::configs_folder() / "profiles" : fs::path(options.profiles));
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread: all inherit it
  BoundedServer server;
  server.new_task_queue = [&] { return new httplib::ThreadPool(options.threads); };
  server.set_payload_max_length(kMostRequestBytes);
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_tcp_nodelay(true);
  add_routes(server, service);
  const int port = bind(server, options);
  int caught = 0;
  {
    std::jthread waiter([&](const std::stop_token& stop) {
      caught = wait_for_signal(signals, stop);
      // stop() does nothing before the loop runs: a signal right after the start would be lost.
      while (caught != 0 && !server.is_running() && !stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (caught != 0 && !stop.stop_requested()) server.stop();
    });
    fmt::print("listening on http://{}:{}/v1\n", options.host, port);
    std::fflush(stdout);
    if (!options.quiet)
      notice("this is the synthetic model, not a language model; the request's `model` names the profile");
    server.listen_after_bind();
  }
  return caught == SIGINT ? ExitCode::interrupted : ExitCode::done;
}

}  // namespace

Verb serve_verb() {
  return {
      "serve", "serves the synthetic model over HTTP, OpenAI-compatible", [](CLI::App& app) -> Action {
        auto options = std::make_shared<ServeOptions>();
        app.add_option("--benchmark", options->benchmark, "folder, a run, or a name under configs/")
            ->type_name("B")
            ->capture_default_str();
        app.add_option("--profiles", options->profiles, "folder of profile files (default: configs/profiles)")
            ->type_name("DIR");
        app.add_option("--host", options->host, "address to listen on")->type_name("ADDRESS")->capture_default_str();
        want_whole(app.add_option("--port", options->port, "port; 0 picks a free one, printed on stdout")
                       ->capture_default_str(),
                   0, 65535);
        want_whole(app.add_option("--threads", options->threads, "connections served at once")->capture_default_str(),
                   1, 4096);
        app.add_flag("-q,--quiet", options->quiet, "no notices on stderr");
        return [options] { return serve(*options); };
      }};
}

}  // namespace nkigrid::cli
