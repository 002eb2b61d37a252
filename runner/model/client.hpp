#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runner/model/key.hpp"
#include "runner/model/load_http.hpp"
#include "runner/model/model.hpp"
#include "runner/model/window.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {

/// Tokens that an answer may take that only shows that a model answers: the fewest that every provider allows.
inline constexpr std::uint32_t kProbeTokens = 16;

/// Times of the client that no grid states; tests shorten them.
struct ClientTuning {
  Seconds first_backoff{1};  ///< doubles with each retry
  Seconds longest_backoff{60};
  Seconds first_answer_limit{10};  ///< an endpoint that never answered is given up after this
  Seconds idle_timeout{60};
  Seconds stop_grace{20};
  Seconds probe_timeout{60};     ///< of the few words that ask whether an endpoint is there
  const Clock* clock = nullptr;  ///< outlives the client; null: the system's
};

/// A model behind an endpoint, whatever wire it speaks: plain replies over libcurl.
///
/// Retries what may pass (WireFault) with exponential backoff, never earlier than the server asks, jitter on top
/// from a draw keyed by (model, seed, conversation length, retry). Gives up when failed tries and the waits between
/// them have taken `retry_limit`, in which a queue of our own (permits, Window) is not counted: as transient, the
/// conversation's own, only when it failed while the endpoint answered others or a probe, else as away
/// (docs/decisions/outages.md). An endpoint that has never answered is fatal after `first_answer_limit`. Where an
/// endpoint says that requests are too many, fewer are in flight (Window).
class ChatClient final : public ChatModel {
 public:
  /// @param spec of an api with an endpoint
  /// @param key what the wire signs with; its mask hides in all that the server sends
  /// @param permits outlives the model; null: no limit. One is held while a request is in flight, none while waiting to
  /// retry.
  /// @param http what requests go through; null: a client of its own
  ChatClient(jobs::ModelSpec spec, Wire wire, ApiKey key, Permits* permits, ClientTuning tuning = {},
             std::unique_ptr<HttpClient> http = nullptr);
  ChatReply complete(const ChatRequest& request, std::stop_token stop) override;

  /// What its server was found to want otherwise than a request says it at first.
  Dialect dialect() const;

 private:
  struct Attempts;
  HttpAnswer post(Attempts& attempts, Seconds timeout, const std::stop_token& stop);
  void reach(Attempts& attempts, const std::stop_token& stop);
  HttpAnswer post_in_window(Attempts& attempts, const std::stop_token& stop);
  void tell_fewer(std::uint32_t limit, const std::string& answer);
  std::optional<ChatReply> judge(const HttpAnswer& answer, Attempts& attempts);
  std::optional<ChatReply> judge_fault(const HttpAnswer& answer, Attempts& attempts);
  void heard(int status);
  bool learn(const Dialect& wanted, const Dialect& spoken);
  std::optional<ChatReply> put_together(const std::string& original) const;
  int meaning_of(const HttpAnswer& answer) const;
  Seconds backoff(const ChatRequest& request, const Attempts& attempts) const;
  void wait_to_retry(const ChatRequest& request, Attempts& attempts, const std::stop_token& stop);
  void give_up(Attempts& attempts, const std::stop_token& stop);
  bool is_there(Attempts& attempts, const std::stop_token& stop);
  bool is_found(Seconds asked, Attempts& attempts, const std::stop_token& stop);
  void probe(Attempts& attempts, const std::stop_token& stop);
  bool was_answered_since(Seconds time) const;
  void pause(Seconds time, Attempts& attempts, const std::stop_token& stop) const;
  [[noreturn]] void fail(ChatFailure failure, const std::string& message, const Attempts& attempts) const;
  void unreachable(const std::string& problem, const Attempts& attempts);

  jobs::ModelSpec spec_;
  Wire wire_;
  ApiKey key_;
  Permits* permits_;
  ClientTuning tuning_;
  SystemClock system_clock_;
  const Clock& clock_ = tuning_.clock != nullptr ? *tuning_.clock : system_clock_;
  std::unique_ptr<HttpClient> http_;
  Window window_{spec_.concurrency};
  std::atomic<bool> answered_{false};
  std::atomic<double> last_told_at_{-1};  ///< when somebody was told that fewer are in flight [monotonic s]
  Window probing_{1};                     ///< the lane that probes; the others wait for what it finds
  Seconds found_away_{-1};                ///< when a probe last found nobody; of the lane that probes
  mutable std::mutex mutex_;
  Dialect dialect_;                       ///< under mutex_
  Seconds last_answer_{-1};               ///< when a server last showed that it is at work; under mutex_
  std::optional<Seconds> first_failure_;  ///< when the endpoint, not yet heard of, was first found dead
};

}  // namespace nkigrid::model
