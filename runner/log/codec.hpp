#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runner/log/records.hpp"

/// Records to payload bytes and back (docs/formats/journal.md, Payload).
namespace nkigrid::log {

/// What a journal's frame can hold.
using Payload = std::variant<LogHeader, Begin, Reply, Turn, End>;

std::string encode(const LogHeader& header);
std::string encode(const Record& record);

/// The same with the run beside a begin: a journal whose head is damaged still says whose it is.
std::string encode(const Record& record, const std::string& run_id);

/// The run that a begin's payload names; nothing where it is no begin, or of a journal before version 1.1.
std::optional<std::string> run_of_begin(std::string_view payload);

/// @param with_texts false leaves request, reply, raw, kernel, tool output and reason empty
/// @returns nothing when the bytes are no payload of this version
std::optional<Payload> decode(std::string_view bytes, bool with_texts = true);

}  // namespace nkigrid::log
