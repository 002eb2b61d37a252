#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/wire/wire.hpp"

/// What providers' errors have in common; a wire adds what is its own.
namespace nkigrid::model {

/// The error in an answer's body.
struct ErrorBody {
  bool present = false;  ///< the body is an error's
  std::string message;
  std::string type, code;  ///< lower case
  std::string generated;   ///< what the model said, where the server could make no call of it; "": not told
};

/// Reads `{"error": {...}}`, `{"error": "text"}`, `{"message": ...}`, `{"detail": ...}`, and each of these in a list of
/// one. An error that says nothing, and whatever stands beside a reply, is none.
ErrorBody read_error(std::string_view body);
ErrorBody error_in(const nlohmann::json& json);

/// By what a provider finds the request in its own log: a header, under each api's name, bounded; "": none says.
std::string request_id_in(const Headers& headers);

/// By status and words, as public reports and the providers' pages have them: retry what may pass (408, 409, 425, 429,
/// 5xx, an error inside a 200).
WireVerdict judge_error(const HttpAnswer& answer, const ErrorBody& error);

/// Asks for the same request in another dialect where that is what the server refused.
WireVerdict adapted(WireVerdict verdict, long status, const ErrorBody& error);

/// A wait that the server asks for and that is longer than `longest` is a quota, not load: fatal.
WireVerdict within(WireVerdict verdict, Seconds longest);

}  // namespace nkigrid::model
