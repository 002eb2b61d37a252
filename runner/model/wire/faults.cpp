#include "runner/model/wire/faults.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/retry_after.hpp"

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

// "The conversation is too long", as servers say it, lower case. By code first: a code means one thing.
constexpr std::array<std::string_view, 7> kTooLongCodes = {
    "context_length_exceeded",       "exceed_context_size_error", "request_too_large",   "string_above_max_length",
    "model_context_window_exceeded", "contextwindowexceeded",     "tokens_limit_reached"};
/// By words: what is too long ...
constexpr std::array<std::string_view, 26> kContext = {
    "context length",  "context size",     "context window",   "context limit",   "model length",
    "input length",    "prompt length",    "input token",      "prompt token",    "tokens in the prompt",
    "token limit",     "total tokens",     "number of tokens", "max_seq_len",     "max_model_length",
    "n_ctx",           "tokens in prompt", "prompt size",      "length of input", "上下文长度",
    "sequence length", "token count",      "'s context",       "the context",     "conversation",
    "prompt has"};
/// ... and that it is.
constexpr std::array<std::string_view, 14> kExceeds = {
    "exceed",    "too long", "longer than", "greater than", "larger than", "is larger",        "overflow",
    "too large", "maximum",  "too many",    "超过",         " > ",         "supports at most", "limit is"};
/// Wordings that name no context.
constexpr std::array<std::string_view, 25> kTooLong = {"prompt is too long",
                                                       "input is too long",
                                                       "prompt too long",
                                                       "input too long",
                                                       "max_tokens must be at least 1",
                                                       "`inputs` tokens + `max_new_tokens` must be",
                                                       "`inputs` must have less than",
                                                       "reduce the length of the messages",
                                                       "maximum prompt length",
                                                       "when context the overflows",
                                                       "prompt exceeds",
                                                       "range of input length should be",

                                                       "contextwindowexceeded",
                                                       "while limit is",
                                                       "context shift is disabled",
                                                       "more than max tokens allowed",
                                                       "message is too long",
                                                       "超长",
                                                       "长度超",
                                                       "messages too long",
                                                       "messages are too long",
                                                       "prompt too large",
                                                       "context overflow",
                                                       "shorten your prompt",
                                                       "shorten the prompt"};
/// What a request holds besides the answer that it asks for.
constexpr std::array<std::string_view, 5> kAsked = {"prompt", "input", "messages", "context", "inputs"};
/// An answer's length.
constexpr std::array<std::string_view, 4> kAnswer = {"max_tokens", "max_completion_tokens", "output token",
                                                     "completion token"};
/// A filter of what may be said, by code or by words; lower case.
constexpr std::array<std::string_view, 9> kFiltered = {"content_filter",
                                                       "content_policy",
                                                       "contentfilter",
                                                       "responsibleaipolicyviolation",
                                                       "data_inspection_failed",
                                                       "content filtering policy",
                                                       "content management policy",
                                                       "was flagged",
                                                       "content exists risk"};
/// A rate limit, by words that mean nothing else.
constexpr std::array<std::string_view, 5> kRateLimit = {"rate limit exceeded", "rate limit reached", "rate-limited",
                                                        "too many requests", "tier capacity exceeded"};
/// Money that is used up, where no code says so.
constexpr std::array<std::string_view, 6> kUnpaid = {"insufficient balance",
                                                     "insufficient_balance",
                                                     "insufficient credit",
                                                     "exceeded_current_quota",
                                                     "余额不足",
                                                     "欠费"};
/// A limit that no wait of a run outlasts, where the server names none.
constexpr std::array<std::string_view, 2> kDaily = {"per day", "daily"};
/// A request that arrived cut, or not at all, as servers say it.
constexpr std::array<std::string_view, 3> kCutUpload = {"unexpected end of data", "unexpected eof",
                                                        "could not parse the json body"};
/// What passes over although it is said with a 400: a tokenizer that threads of the server share.
constexpr std::array<std::string_view, 1> kPasses = {"already borrowed"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string field(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return "";
  return object[key].is_string() ? object[key].get<std::string>() : object[key].is_null() ? "" : object[key].dump();
}

/// The first of some fields that says something.
std::string any_field(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (auto text = field(object, key); !text.empty()) return text;
  }
  return "";
}

/// The words; what a gateway quotes of the provider behind it, too; the code, or one that stands within.
ErrorBody fields_of(const Json& error) {
  const auto within = [&](const char* key) { return error.is_object() ? error.value(key, Json()) : Json(); };
  std::string message = any_field(error, {"message", "Message", "detail", "errors", "msg"});
  for (const auto& quoted : {field(within("metadata"), "raw"), field(error, "cause")})
    if (!quoted.empty()) message += " (" + quoted + ")";
  std::string code = any_field(within("innererror"), {"code"});
  if (code.empty()) code = field(error, "code");
  return {true, std::move(message), lower(any_field(error, {"type", "__type", "status"})), lower(code),
          field(error, "failed_generation")};
}

/// Gateways answer 200 and say in the error what it was.
long meant_status(long status, const ErrorBody& error) {
  long code = 0;
  const auto [end, fault] = std::from_chars(error.code.data(), error.code.data() + error.code.size(), code);
  const bool number = fault == std::errc() && end == error.code.data() + error.code.size();
  return status == 200 && number && code >= 400 && code < 600 ? code : status;
}

/// {"error": {"code": null, "message": ""}} stands beside replies, too.
bool says_something(const Json& error) {
  return std::any_of(error.begin(), error.end(), [](const Json& value) {
    return !value.is_null() && value != "" && value != 0 && value != "0" && value != false;
  });
}

bool has_any(const std::string& text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

bool says_too_long(const std::string& message) {
  return has_any(message, kTooLong) || (has_any(message, kContext) && has_any(message, kExceeds));
}

/// A limit of requests or tokens in a time, by code or by words ("tokens per min (TPM): Limit 6000"): some servers say
/// with 400, 403 and 413 that it is reached.
bool is_rate_limit(const ErrorBody& error) {
  if (error.type.find("rate_limit") != std::string::npos || error.code.find("rate_limit") != std::string::npos)
    return true;
  const auto message = lower(error.message);
  if (has_any(message, kRateLimit)) return true;
  return message.find("per min") != std::string::npos && message.find("limit") != std::string::npos;
}

/// The number behind a word, "Limit 30,000" or "limit: 30000"; 0: none stands there.
std::uint64_t number_behind(const std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    std::uint64_t number = 0;
    const auto begin = text.find_first_not_of(" :=", at + word.size());
    for (auto i = begin; i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == ','); ++i)
      if (text[i] != ',') number = number * 10 + static_cast<std::uint64_t>(text[i] - '0');
    if (number > 0) return number;
  }
  return 0;
}

/// The number that stands before a word, "4000 'max_tokens'"; 0: none does.
std::uint64_t number_before(const std::string& text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string::npos) return 0;
  std::uint64_t number = 0, place = 1;
  for (auto i = text.find_last_not_of(' ', at == 0 ? 0 : at - 1); i < at && place < 1'000'000'000'000; --i) {
    const char c = text[i];
    if (c == ',') continue;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
    number += place * static_cast<std::uint64_t>(c - '0');
    place *= 10;
    if (i == 0) break;
  }
  return number;
}

/// One request is more than its limit gives in a whole minute: no wait mends that.
bool is_above_any_wait(const ErrorBody& error) {
  if (!is_rate_limit(error)) return false;
  const auto message = lower(error.message);
  const auto limit = number_behind(message, "limit");
  return limit > 0 && number_behind(message, "requested") > limit;
}

bool asks_for_less(long status, const ErrorBody& error) {
  return status == 429 || status == 503 || status == 529 || is_rate_limit(error);
}

/// The grid asks for a longer answer than the server gives at all: max_tokens is to be lowered, the prompt may fit.
/// Where the words tell the context's size and the answer would fit into it, it is the prompt that leaves it no room.
bool is_of_answer(const std::string& message) {
  const auto context = number_behind(message, "context length is");
  for (const char* answer : {"'max_tokens'", "output tokens", "in the completion"})
    if (context > 0 && number_before(message, answer) >= context) return true;
  const bool too_large = message.find("max_tokens' or 'max_completion_tokens' is too large") != std::string::npos ||
                         message.find("max_tokens is too large") != std::string::npos;
  if (!too_large) return has_any(message, kAnswer) && !has_any(message, kAsked) && !has_any(message, kTooLong);
  return context == 0 || number_behind(message, "too large") >= context;
}

/// Words count where a request was refused for what it holds, or a server stumbled over it (500) or the one behind a
/// gateway (502); never where one is
/// asked to wait: limits of tokens a minute speak of requests that are too large, too.
bool is_too_long(long status, const ErrorBody& error) {
  const auto message = lower(error.message);
  if (is_rate_limit(error) || is_of_answer(message)) return false;
  if (has_any(error.type, kTooLongCodes) || has_any(error.code, kTooLongCodes)) return true;
  const bool refused =
      status == 200 || status == 400 || status == 413 || status == 422 || status == 500 || status == 502;
  return refused && says_too_long(message);
}

bool is_quota(long status, const ErrorBody& error) {
  return status == 402 || error.code == "insufficient_quota" || error.type == "insufficient_quota" ||
         error.type == "billing_error" || error.type == "budget_exceeded";
}

/// Whether the words of a limit speak of a day: where the server names no wait, none of a run's outlasts it.
bool names_a_day(std::string_view words) { return has_any(lower(words), kDaily); }

/// Whether the words or the type of a refusal say that nothing is left to be asked for.
bool is_used_up(const ErrorBody& error) {
  return names_a_day(error.message) || has_any(lower(error.message), kUnpaid) || has_any(error.type, kUnpaid);
}

bool is_filtered(const ErrorBody& error) {
  return has_any(error.code, kFiltered) || has_any(error.type, kFiltered) || has_any(lower(error.message), kFiltered);
}

bool is_cut_upload(long status, const ErrorBody& error) {
  return status == 400 && has_any(lower(error.message), kCutUpload);
}

bool is_transient(long status, const ErrorBody& error) {
  if (has_any(lower(error.message), kPasses)) return true;
  return (status >= 200 && status < 300) || status == 408 || status == 409 || status == 425 || status == 429 ||
         status >= 500;
}

}  // namespace

std::string request_id_in(const Headers& headers) {
  for (const char* name : {"request-id", "x-request-id", "x-amzn-requestid"}) {
    if (const auto id = headers.find(name); id != headers.end() && !id->second.empty())
      return elide_middle(to_valid_utf8(id->second), 80);
  }
  return "";
}

ErrorBody read_error(std::string_view body) { return error_in(parse_json(mend_json(body).text)); }

ErrorBody error_in(const Json& json) {
  if (json.is_array() && json.size() == 1) return error_in(json[0]);
  if (!json.is_object()) return {};
  const auto error = json.find("error");
  if (error != json.end() && error->is_string() && !error->get<std::string>().empty())
    return {.present = true, .message = error->get<std::string>()};
  if (error != json.end() && error->is_object() && says_something(*error)) return fields_of(*error);
  // Gateways wrap replies, too: {"code": 0, "message": "Success", "choices": [...]}.
  for (const char* key : {"choices", "content", "output"}) {
    if (json.contains(key)) return {};
  }
  // Events of a stream hold the message that begins, as an object: of one that is refused it holds the reasons.
  const auto message = json.find("message");
  if (message != json.end() && message->is_object() && !message->contains("detail")) return {};
  const auto is_there = [&](const char* key) { return json.contains(key) && !json[key].empty(); };
  const bool says = message != json.end() || is_there("Message") || is_there("detail") || is_there("errors");
  return says ? fields_of(json) : ErrorBody{};
}

WireVerdict judge_error(const HttpAnswer& answer, const ErrorBody& said) {
  ErrorBody error = said;
  const long status = meant_status(answer.status, error);
  if (!error.present && status >= 400) error.message = to_valid_utf8(answer.body.substr(0, 1024));  // plain text
  WireVerdict verdict;
  const std::string words = error.present ? error.message : to_valid_utf8(answer.body.substr(0, 1024));
  verdict.message =
      one_line(fmt::format("HTTP {}: {}", answer.status, elide_middle(words.empty() ? "(no body)" : words, 1024)));
  if (const auto id = request_id_in(answer.headers); !id.empty())
    verdict.message += one_line(fmt::format(" (request {})", id));
  verdict.server_wait = server_wait(answer.headers, asks_for_less(status, error));
  if (!verdict.server_wait && asks_for_less(status, error)) verdict.server_wait = wait_in_words(answer.body);
  if (is_above_any_wait(error)) {
    verdict.fault = WireFault::fatal;
    verdict.message +=
        " (one request is more than the account's limit: no wait mends that; a higher limit does, or a "
        "lower max_tokens)";
  } else if (is_too_long(status, error)) {
    verdict.fault = WireFault::context_full;
  } else if (!error.generated.empty()) {
    verdict.fault = WireFault::spoken;
    verdict.words = error.generated;
  } else if (is_quota(status, error) || (!verdict.server_wait && asks_for_less(status, error) && is_used_up(error))) {
    verdict.fault = WireFault::fatal;
    verdict.message += " (the quota is used up)";
  } else if (is_filtered(error) && status < 500) {
    verdict.fault = WireFault::refused;
    verdict.words = error.message;
  } else if (is_cut_upload(status, error)) {
    verdict.fault = WireFault::retry_once;
  } else if (!is_transient(status, error) && !is_rate_limit(error)) {
    verdict.fault = WireFault::fatal;
  }
  return verdict;
}

WireVerdict adapted(WireVerdict verdict, long status, const ErrorBody& error) {
  if (verdict.fault == WireFault::context_full || verdict.fault == WireFault::refused ||
      verdict.fault == WireFault::spoken)
    return verdict;
  const Dialect wanted = wanted_dialect(status, error.message);
  if (wanted == Dialect{}) return verdict;
  verdict.fault = WireFault::adapt;
  verdict.dialect = wanted;
  return verdict;
}

WireVerdict within(WireVerdict verdict, Seconds longest) {
  if (verdict.fault != WireFault::retry || !verdict.server_wait || *verdict.server_wait <= longest) return verdict;
  verdict.fault = WireFault::fatal;
  verdict.message += fmt::format(" (asks for a wait of {:.0f} s, more than retry_limit {:.0f} s: a quota, not load)",
                                 verdict.server_wait->count(), longest.count());
  return verdict;
}

}  // namespace nkigrid::model
