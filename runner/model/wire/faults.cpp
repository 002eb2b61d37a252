#include "runner/model/wire/faults.hpp"

#include <algorithm>
#include <array>
#include <cctype>

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
constexpr std::array<std::string_view, 4> kTooLongCodes = {"context_length_exceeded", "exceed_context_size_error",
                                                           "request_too_large", "string_above_max_length"};
/// By words: what is too long ...
constexpr std::array<std::string_view, 5> kContext = {"context length", "context size", "context window",
                                                      "context limit", "model length"};
/// ... and that it is.
constexpr std::array<std::string_view, 9> kExceeds = {"exceed",       "too long",    "longer than",
                                                      "greater than", "larger than", "is larger",
                                                      "overflow",     "too large",   "maximum"};
/// Wordings that name no context.
constexpr std::array<std::string_view, 10> kTooLong = {"prompt is too long",
                                                       "input is too long",
                                                       "prompt too long",
                                                       "input too long",
                                                       "max_tokens must be at least 1",
                                                       "`inputs` tokens + `max_new_tokens` must be",
                                                       "`inputs` must have less than",
                                                       "reduce the length of the messages",
                                                       "maximum prompt length",
                                                       "when context the overflows"};

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

ErrorBody fields_of(const Json& error) {
  return {true, field(error, "message"), lower(field(error, "type")), lower(field(error, "code"))};
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
bool is_of_answer(const ErrorBody& error) {
  const auto message = lower(error.message);
  return message.find("max_tokens' or 'max_completion_tokens' is too large") != std::string::npos ||
         message.find("max_tokens is too large") != std::string::npos;
}

/// Words count where a request was refused for what it holds, or a server stumbled over it (500); never where one is
/// asked to wait: limits of tokens a minute speak of requests that are too large, too.
bool is_too_long(long status, const ErrorBody& error) {
  if (is_rate_limit(error) || is_of_answer(error)) return false;
  if (has_any(error.type, kTooLongCodes) || has_any(error.code, kTooLongCodes)) return true;
  const bool refused = status == 200 || status == 400 || status == 413 || status == 422 || status == 500;
  return refused && says_too_long(lower(error.message));
}

bool is_quota(long status, const ErrorBody& error) {
  return status == 402 || error.code == "insufficient_quota" || error.type == "insufficient_quota" ||
         error.type == "billing_error";
}

bool is_cut_upload(long status, const ErrorBody& error) {
  return status == 400 &&
         has_any(lower(error.message), std::array<std::string_view, 2>{"unexpected end of data", "unexpected eof"});
}

bool is_transient(long status) {
  return status == 200 || status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

ErrorBody read_error(std::string_view body) { return error_in(parse_json(mend_json(body).text)); }

ErrorBody error_in(const Json& json) {
  if (!json.is_object()) return {};
  const auto error = json.find("error");
  if (error != json.end() && error->is_string() && !error->get<std::string>().empty())
    return {true, error->get<std::string>(), "", ""};
  if (error != json.end() && error->is_object() && !error->empty()) return fields_of(*error);
  // Gateways wrap replies, too: {"code": 0, "message": "Success", "choices": [...]}.
  // And events of a stream hold the message that begins, as an object.
  const auto message = json.find("message");
  const bool says = message != json.end() && !message->is_object() && !json.contains("choices");
  return says ? fields_of(json) : ErrorBody{};
}

WireVerdict judge_error(const HttpAnswer& answer, const ErrorBody& error) {
  const long status = answer.status;
  WireVerdict verdict;
  const std::string words = error.present ? error.message : to_valid_utf8(answer.body.substr(0, 1024));
  verdict.message =
      one_line(fmt::format("HTTP {}: {}", status, elide_middle(words.empty() ? "(no body)" : words, 1024)));
  verdict.server_wait = server_wait(answer.headers, asks_for_less(status, error));
  if (is_above_any_wait(error)) {
    verdict.fault = WireFault::fatal;
    verdict.message +=
        " (one request is more than the account's limit: no wait mends that; a higher limit does, or a "
        "lower max_tokens)";
  } else if (is_too_long(status, error)) {
    verdict.fault = WireFault::context_full;
  } else if (is_quota(status, error)) {
    verdict.fault = WireFault::fatal;
    verdict.message += " (the quota is used up)";
  } else if (error.code == "content_filter") {
    verdict.fault = WireFault::refused;
    verdict.refusal = error.message;
  } else if (is_cut_upload(status, error)) {
    verdict.fault = WireFault::retry_once;
  } else if (!is_transient(status) && !is_rate_limit(error)) {
    verdict.fault = WireFault::fatal;
  }
  return verdict;
}

WireVerdict adapted(WireVerdict verdict, long status, const ErrorBody& error) {
  if (verdict.fault == WireFault::context_full || verdict.fault == WireFault::refused) return verdict;
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
