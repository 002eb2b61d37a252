#include "runner/model/client.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>

#include <fmt/format.h>

#include "jobs/base/draws.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/notice.hpp"
#include "runner/model/permit.hpp"
#include "runner/model/wire/faults.hpp"

namespace nkigrid::model {

struct ChatClient::Attempts {
  HttpRequest request;   ///< not yet signed
  Dialect dialect;       ///< that the request is in
  bool at_once = false;  ///< the next try needs no wait: it is another request
  std::uint32_t retries = 0;
  std::uint32_t cut_uploads = 0;
  bool last_try = false;  ///< retry_limit is used up, the endpoint answers others: one more, to know whose fault it is
  Seconds wait_s{0}, llm_s{0};
  Seconds failing_s{0};  ///< of wait_s what the endpoint cost: failed tries and the waits for it, never a queue of ours
  std::optional<Seconds> server_wait;
  std::string problem;   ///< of the newest failure
  std::string original;  ///< the newest answer's body as it came, where a key shows in it; for put_together() alone
};

namespace {

/// What Permits::heard() is told where no status says it: no answer, a reply, an answer that is none.
constexpr int kSilence = 0, kReply = 200, kNonsense = 500;

/// Between two notices that fewer are in flight.
constexpr double kTellEvery = 300;

/// The one door by which what a server sends comes in: behind it nobody can log, print or send on a key.
HttpAnswer without_keys(HttpAnswer answer, const KeyMask& mask) {
  answer.problem = mask.hide(std::move(answer.problem));
  for (auto& [name, value] : answer.headers) value = mask.hide(std::move(value));
  answer.body = mask.hide(std::move(answer.body));
  return answer;
}

/// All that a reply says.
std::vector<std::string*> texts_of(ChatReply& reply) {
  auto& message = reply.message;
  std::vector<std::string*> texts = {&message.content, &message.opaque, &reply.reasoning, &reply.system_fingerprint};
  for (auto& call : message.tool_calls) texts.insert(texts.end(), {&call.id, &call.name, &call.arguments});
  return texts;
}

/// What a reply says was put together from pieces, in which a key is none: where one shows, its bytes are not kept, of
/// which any reader puts it together again.
/// @param whole the same reply, read of the bytes as they came; null: no key shows in these. Where the first of several
/// pieces was hidden as the beginning of a key, the others are no longer known for one.
void hide_keys(ChatReply& reply, ChatReply* whole, const KeyMask& mask) {
  const auto texts = texts_of(reply);
  auto came = whole != nullptr ? texts_of(*whole) : texts;
  bool in_pieces = came.size() != texts.size();
  if (in_pieces) came = texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto hidden = mask.hide(*came[i]);
    in_pieces = in_pieces || hidden != *texts[i];
    *texts[i] = std::move(hidden);
  }
  if (in_pieces) reply.raw = R"({"withheld": "a key stood in it in pieces"})";
}

/// Counts what a server did not, from above: no tokenizer in use makes more than one token of two bytes of English or
/// code (they make one of three to four), so that a budget is not overrun unseen.
void estimate_missing(Usage& usage, const std::string& sent, const Message& message, const std::string& reasoning) {
  constexpr std::size_t kBytesAToken = 2;
  if (usage.input != 0 || usage.output != 0) return;
  std::size_t said = message.content.size() + reasoning.size();
  for (const auto& call : message.tool_calls) said += call.name.size() + call.arguments.size();
  usage.input = static_cast<std::uint32_t>((sent.size() + kBytesAToken - 1) / kBytesAToken);
  usage.output = static_cast<std::uint32_t>((said + kBytesAToken - 1) / kBytesAToken);
  usage.estimated = true;
}

/// What is to be sent again as it is was no answer to it, whatever its status says.
int status_of(const HttpAnswer& answer, const WireVerdict& verdict) {
  const auto status = static_cast<int>(answer.status);
  const bool failed = verdict.fault == WireFault::retry || verdict.fault == WireFault::retry_once;
  return failed && status < 429 ? kNonsense : status;
}

Window::Heard heard_of(const HttpAnswer& answer) {
  if (answer.transport != Transport::answered) return Window::Heard::nothing;
  if (answer.status == 429 || answer.status == 503 || answer.status == 529) return Window::Heard::too_many;
  return answer.status == 200 ? Window::Heard::reply : Window::Heard::nothing;
}

/// Sleeps until the time is over or the token fires. @returns false when it fired
bool sleep_for(Seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

ChatClient::ChatClient(jobs::ModelSpec spec, Wire wire, ApiKey key, Permits* permits, ClientTuning tuning,
                       std::unique_ptr<HttpClient> http)
    : spec_(std::move(spec)),
      wire_(wire),
      key_(std::move(key)),
      permits_(permits),
      tuning_(tuning),
      http_(http != nullptr ? std::move(http) : make_http_client()) {}

void ChatClient::fail(ChatFailure failure, const std::string& message, const Attempts& attempts) const {
  ChatError error(failure, fmt::format("model '{}' at '{}': {}", spec_.name,
                                       url_below(remote_of(spec_.api)->endpoint, ""), message));
  error.api_retries = attempts.retries;
  throw error;
}

/// Waits at an endpoint that is away.
void ChatClient::reach(Attempts& attempts, const std::stop_token& stop) {
  if (permits_ == nullptr) return;
  const Seconds asked = clock_.monotonic();
  if (!permits_->reach(spec_.name, stop)) fail(ChatFailure::interrupted, "stopped before a request was sent", attempts);
  const Seconds waited = clock_.monotonic() - asked;
  attempts.wait_s += waited;
  attempts.failing_s += waited;
}

/// One try, with a permit. @param timeout of the request alone
HttpAnswer ChatClient::post(Attempts& attempts, Seconds timeout, const std::stop_token& stop) {
  const Seconds asked = clock_.monotonic();
  const PermitLease lease(permits_, spec_.name, stop);
  if (stop.stop_requested()) fail(ChatFailure::interrupted, "stopped before a request was sent", attempts);
  const Seconds start = clock_.monotonic();
  attempts.wait_s += start - asked;
  // Signed where it is: a copy of a long conversation would cost every try more than the signature.
  auto& request = attempts.request;
  const auto unsigned_headers = request.headers;
  for (const auto& header : key_.headers) request.headers.push_back(header);
  wire_.sign(request, spec_, key_, clock_.unix_seconds());
  const HttpOptions options = {.timeout = timeout,
                               .idle_timeout = std::min(tuning_.idle_timeout, timeout),
                               .stop_grace = tuning_.stop_grace,
                               // The kept-alive one may be what failed.
                               .fresh_connection = attempts.retries == 1};
  HttpAnswer answer = http_->post(request, options, stop);
  std::string original = answer.body;
  answer = without_keys(std::move(answer), key_.mask);
  attempts.original = original == answer.body ? std::string() : std::move(original);
  attempts.llm_s = clock_.monotonic() - start;
  request.headers = unsigned_headers;
  return answer;
}

/// Told now and then: an endpoint that is away says so at every try.
void ChatClient::tell_fewer(std::uint32_t limit, const std::string& answer) {
  const double now = clock_.monotonic().count();
  if (const double told = last_told_at_; told >= 0 && now - told < kTellEvery) return;
  last_told_at_ = now;
  notice(
      "model '{}': the endpoint answers that it cannot take so much now ({}); {} in flight from now on, more as it "
      "answers",
      spec_.name, answer, limit);
}

/// post() while the endpoint takes so many at once. What waits here is in no one's way: it holds no permit.
HttpAnswer ChatClient::post_in_window(Attempts& attempts, const std::stop_token& stop) {
  const Seconds asked = clock_.monotonic();
  const Window::Place place = window_.enter(stop);
  if (!place.given) fail(ChatFailure::interrupted, "stopped while waiting for the endpoint to take more", attempts);
  attempts.wait_s += clock_.monotonic() - asked;
  auto heard = Window::Heard::nothing;
  std::string words;
  const auto leave = [&] {
    if (const auto limit = window_.leave(place, heard); limit > 0) tell_fewer(limit, words);
    if (permits_ != nullptr) permits_->narrowed(spec_.name, window_.limit());
  };
  try {
    reach(attempts, stop);
    HttpAnswer answer = post(attempts, spec_.request_timeout, stop);
    heard = heard_of(answer);
    words = fmt::format("HTTP {}", answer.status);
    leave();
    return answer;
  } catch (...) {
    leave();
    throw;
  }
}

/// Gives up on an endpoint that has never answered; one that has is retried like any other fault.
void ChatClient::unreachable(const std::string& problem, const Attempts& attempts) {
  if (answered_) return;
  const Seconds now = clock_.monotonic();
  const std::lock_guard lock(mutex_);
  if (!first_failure_) first_failure_ = now;
  if (now - *first_failure_ < tuning_.first_answer_limit) return;
  fail(ChatFailure::fatal,
       fmt::format("the endpoint does not answer ({}); start the server, or correct models.{}.endpoint", problem,
                   spec_.name),
       attempts);
}

void ChatClient::heard(int status) {
  if (is_at_work(status)) {
    const std::lock_guard lock(mutex_);
    last_answer_ = clock_.monotonic();
  }
  if (permits_ != nullptr) permits_->heard(spec_.name, status);
}

Dialect ChatClient::dialect() const {
  const std::lock_guard lock(mutex_);
  return dialect_;
}

/// Keeps what a server wants. @returns false when the request that it refused was in that dialect already
bool ChatClient::learn(const Dialect& wanted, const Dialect& spoken) {
  const std::lock_guard lock(mutex_);
  dialect_ = merged(dialect_, wanted);
  return dialect_ != spoken;
}

/// @returns the reply, or nothing when the request is to be sent again
std::optional<ChatReply> ChatClient::judge(const HttpAnswer& answer, Attempts& attempts) {
  attempts.server_wait.reset();
  if (answer.transport == Transport::interrupted)
    fail(ChatFailure::interrupted, "stopped while waiting for a reply", attempts);
  if (answer.transport != Transport::answered) {
    heard(kSilence);
    attempts.problem = answer.problem;
    if (answer.transport == Transport::unreachable) unreachable(answer.problem, attempts);
    return std::nullopt;
  }
  answered_ = true;
  try {
    if (answer.status == 200) {
      if (auto reply = wire_.reply(answer.body)) return heard(kReply), reply;
    }
  } catch (const Error& error) {
    heard(kNonsense);
    attempts.problem = error.what();
    return std::nullopt;
  }
  return judge_fault(answer, attempts);
}

/// @returns the reply that an error quotes or is, or nothing when the request is to be sent again
std::optional<ChatReply> ChatClient::judge_fault(const HttpAnswer& answer, Attempts& attempts) {
  const WireVerdict verdict = within(wire_.verdict(answer), spec_.retry_limit);
  attempts.problem = verdict.message;
  attempts.server_wait = verdict.server_wait;
  heard(status_of(answer, verdict));
  switch (verdict.fault) {
    case WireFault::retry:
      return std::nullopt;
    case WireFault::retry_once:
      if (++attempts.cut_uploads > 1) fail(ChatFailure::fatal, verdict.message, attempts);
      return std::nullopt;
    case WireFault::adapt:
      attempts.at_once = learn(verdict.dialect, attempts.dialect);
      if (!attempts.at_once) fail(ChatFailure::fatal, verdict.message, attempts);
      return std::nullopt;
    case WireFault::context_full:
      fail(ChatFailure::context_full, verdict.message, attempts);
    case WireFault::refused:
    case WireFault::spoken: {
      ChatReply reply;
      reply.message = {.role = Role::assistant, .content = verdict.words};
      reply.finish = verdict.fault == WireFault::refused ? Finish::refused : Finish::stop;
      return reply;
    }
    case WireFault::fatal:
      break;
  }
  std::string help;
  if (answer.status == 401 || answer.status == 403) help = fmt::format("; check models.{}.key", spec_.name);
  if (const auto at = answer.headers.find("location"); answer.status / 100 == 3 && at != answer.headers.end()) {
    help =
        fmt::format("; it points to '{}', where no key follows it: correct models.{}.endpoint", at->second, spec_.name);
  }
  if (answer.status == 404) {
    help =
        fmt::format("; check models.{0}.endpoint and models.{0}.model '{1}'", spec_.name, remote_of(spec_.api)->model);
  }
  fail(ChatFailure::fatal, verdict.message + help, attempts);
}

/// What a wait of `time` costs is the endpoint's doing.
void ChatClient::pause(Seconds time, Attempts& attempts, const std::stop_token& stop) const {
  if (!sleep_for(time, stop)) fail(ChatFailure::interrupted, "stopped while waiting to retry", attempts);
  attempts.wait_s += time;
  attempts.failing_s += time;
}

Seconds ChatClient::backoff(const ChatRequest& request, const Attempts& attempts) const {
  const double doubled =
      tuning_.first_backoff.count() * std::ldexp(1.0, static_cast<int>(std::min(attempts.retries, 20U)));
  Seconds wait = std::min(Seconds(doubled), tuning_.longest_backoff);
  if (!answered_) wait = std::min(wait, tuning_.first_answer_limit / 5);  // a dead endpoint is found out soon
  const Seconds asked = attempts.server_wait.value_or(Seconds(0));
  wait = std::max(wait, asked);
  Draws draws(keyed_hash({"retry jitter", spec_.name, std::to_string(request.seed.value_or(0)),
                          std::to_string(request.messages.size()), std::to_string(attempts.retries)}));
  wait += wait * (0.25 * draws.uniform());  // on top, never below what the server asked for
  return std::max(asked, std::min(wait, spec_.retry_limit - attempts.failing_s));  // the last try is at the limit
}

void ChatClient::wait_to_retry(const ChatRequest& request, Attempts& attempts, const std::stop_token& stop) {
  if (attempts.last_try || attempts.failing_s >= spec_.retry_limit) {
    give_up(attempts, stop);
  } else {
    pause(backoff(request, attempts), attempts, stop);
  }
  ++attempts.retries;
}

/// Whose fault it is that a request's patience is used up. The conversation's, when it failed between two moments at
/// which the endpoint answered others; so while it does, the request is sent once more.
/// @throws ChatError{away}, ChatError{transient}
void ChatClient::give_up(Attempts& attempts, const std::stop_token& stop) {
  const auto why =
      fmt::format("no reply after {} retries in {:.0f} s (retry_limit {:.0f} s); last: {}", attempts.retries,
                  attempts.failing_s.count(), spec_.retry_limit.count(), attempts.problem);
  if (attempts.server_wait) pause(*attempts.server_wait, attempts, stop);
  if (!is_there(attempts, stop)) fail(ChatFailure::away, why, attempts);
  if (attempts.last_try) fail(ChatFailure::transient, why + "; others are answered meanwhile", attempts);
  attempts.last_try = true;
}

/// True when the endpoint answers somebody from now on. Of many lanes that ask at once one probes.
bool ChatClient::is_there(Attempts& attempts, const std::stop_token& stop) {
  const Seconds asked = clock_.monotonic();
  const Window::Place turn = probing_.enter(stop);
  if (!turn.given) fail(ChatFailure::interrupted, "stopped while another conversation asked", attempts);
  const Seconds waited = clock_.monotonic() - asked;
  attempts.wait_s += waited;
  attempts.failing_s += waited;
  try {
    const bool there = found_away_ < asked && is_found(asked, attempts, stop);
    probing_.leave(turn, Window::Heard::nothing);
    return there;
  } catch (...) {
    probing_.leave(turn, Window::Heard::nothing);
    throw;
  }
}

/// Probes until the endpoint has answered somebody since it was asked, for a quarter of the patience: a server that the
/// conversation itself has killed is started anew meanwhile.
bool ChatClient::is_found(Seconds asked, Attempts& attempts, const std::stop_token& stop) {
  const Seconds patience = spec_.retry_limit / 4, before = attempts.failing_s;
  for (Seconds wait = tuning_.first_backoff;; wait = std::min(2 * wait, tuning_.longest_backoff)) {
    if (!was_answered_since(asked)) probe(attempts, stop);
    if (was_answered_since(asked)) return true;
    const Seconds left = patience - (attempts.failing_s - before);
    if (left <= Seconds(0)) break;
    pause(std::min(wait, left), attempts, stop);
  }
  found_away_ = clock_.monotonic();
  return false;
}

bool ChatClient::was_answered_since(Seconds time) const {
  const std::lock_guard lock(mutex_);
  return last_answer_ >= time;
}

/// Asks for a word, past the circuit, which may be open for the sake of the one conversation that is in doubt.
void ChatClient::probe(Attempts& attempts, const std::stop_token& stop) {
  jobs::ModelSpec brief = spec_;
  brief.max_tokens = std::min(brief.max_tokens.value_or(kProbeTokens), kProbeTokens);
  const ChatRequest word = {.messages = {{.role = Role::user, .content = "Answer with one word: yes."}}};
  Attempts asking;
  asking.request = wire_.request(word, brief, dialect());
  const HttpAnswer answer = post(asking, std::min(tuning_.probe_timeout, spec_.request_timeout), stop);
  if (answer.transport == Transport::interrupted)
    fail(ChatFailure::interrupted, "stopped while asking whether the endpoint is there", attempts);
  heard(meaning_of(answer));
  attempts.wait_s += asking.wait_s + asking.llm_s;
  attempts.failing_s += asking.llm_s;
}

/// What Permits::heard() is told of an answer.
int ChatClient::meaning_of(const HttpAnswer& answer) const {
  if (answer.transport != Transport::answered) return kSilence;
  try {
    if (answer.status == 200 && wire_.reply(answer.body)) return kReply;
  } catch (const Error&) {
    return kNonsense;
  }
  return status_of(answer, wire_.verdict(answer));
}

/// The reply of bytes as they came. What they are otherwise judge() has said.
std::optional<ChatReply> ChatClient::put_together(const std::string& original) const {
  try {
    return original.empty() ? std::nullopt : wire_.reply(original);
  } catch (const Error&) {
    return std::nullopt;
  }
}

ChatReply ChatClient::complete(const ChatRequest& request, std::stop_token stop) {
  Attempts attempts;
  for (;;) {
    attempts.dialect = dialect();
    attempts.request = wire_.request(request, spec_, attempts.dialect);
    attempts.at_once = false;
    const HttpAnswer answer = post_in_window(attempts, stop);
    if (auto reply = judge(answer, attempts)) {
      reply->request = std::move(attempts.request.body);
      reply->raw = answer.body;
      reply->request_id = request_id_in(answer.headers);
      reply->left_out = left_out(attempts.dialect, spec_);
      estimate_missing(reply->usage, reply->request, reply->message, reply->reasoning);
      auto whole = put_together(attempts.original);
      hide_keys(*reply, whole ? &*whole : nullptr, key_.mask);
      reply->api_retries = attempts.retries;
      reply->llm_s = attempts.llm_s.count();
      reply->wait_s = attempts.wait_s.count();
      reply->failing_s = attempts.failing_s.count();
      return std::move(*reply);
    }
    // What a failed try took is waiting, too: it brought nothing.
    attempts.wait_s += attempts.llm_s;
    attempts.failing_s += attempts.llm_s;
    if (!attempts.at_once) wait_to_retry(request, attempts, stop);
  }
}

}  // namespace nkigrid::model
