#include "runner/model/synthetic/feedback.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <nlohmann/json.hpp>

namespace nkigrid::model {
namespace {

using Json = nlohmann::json;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string called_name(const Message& reply, const std::string& id) {
  const auto it = std::find_if(reply.tool_calls.begin(), reply.tool_calls.end(),
                               [&](const ToolCall& call) { return call.id == id; });
  return it == reply.tool_calls.end() ? "" : it->name;
}

/// The line that raw compiler text names first: "kernel.py:12" or "line 12".
std::uint32_t line_in(const std::string& text) {
  for (const std::string_view mark : {"kernel.py:", "line "}) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    std::uint32_t line = 0;
    const char* begin = text.data() + at + mark.size();
    if (std::from_chars(begin, text.data() + text.size(), line).ec == std::errc()) return line;
  }
  return 0;
}

void read_answer(const std::string& tool, const std::string& content, Feedback& feedback) {
  const Json answer = Json::parse(content, nullptr, false);
  if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean() || answer.contains("error")) return;
  const bool ok = answer["ok"].get<bool>();
  const bool verified = tool == "verify_kernel";
  feedback = {};
  feedback.kind = verified ? (ok ? Feedback::Kind::verify_passed : Feedback::Kind::verify_failed)
                           : (ok ? Feedback::Kind::compile_passed : Feedback::Kind::compile_failed);
  feedback.warned = !verified && answer.contains("warnings") && !answer["warnings"].empty();
  if (answer.contains("code") && answer["code"].is_string()) {
    feedback.code = parse_code(answer["code"].get<std::string>()).value_or(Code::none);
  }
  if (answer.contains("line") && answer["line"].is_number_unsigned())
    feedback.line = answer["line"].get<std::uint32_t>();
  if (answer.contains("message") && answer["message"].is_string()) feedback.text = answer["message"].get<std::string>();
  if (answer.contains("hints")) feedback.text += answer["hints"].dump();
  feedback.text = lower(std::move(feedback.text));
}

}  // namespace

std::vector<Exchange> exchanges_of(const std::vector<Message>& messages) {
  std::vector<Exchange> exchanges;
  for (const Message& message : messages) {
    if (message.role == Role::assistant) {
      exchanges.push_back({message, {}});
    } else if (!exchanges.empty()) {
      exchanges.back().answers.push_back(message);
    }
  }
  return exchanges;
}

Feedback feedback_of(const Exchange& exchange) {
  Feedback feedback;
  for (const Message& answer : exchange.answers) {
    if (answer.role == Role::tool) {
      read_answer(called_name(exchange.reply, answer.tool_call_id), answer.content, feedback);
    } else if (answer.role == Role::user && exchange.reply.tool_calls.empty() &&
               exchange.reply.content.find("```") != std::string::npos) {
      feedback.kind = Feedback::Kind::compile_failed;
      feedback.raw = true;
      feedback.text = lower(answer.content);
      feedback.line = line_in(feedback.text);
    }
  }
  return feedback;
}

}  // namespace nkigrid::model
