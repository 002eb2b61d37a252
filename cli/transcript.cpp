#include "cli/transcript.hpp"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/findings.hpp"
#include "cli/json_text.hpp"
#include "cli/line_diff.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/text.hpp"
#include "runner/agent/reading.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/recovery/thinking.hpp"

namespace nkigrid::cli {
namespace {

using nlohmann::ordered_json;

std::string indented(std::string_view text, std::string_view prefix) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result += prefix;
    result += text.substr(0, end);
    result += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string good(std::string_view text) const { return paint("32", text); }
  std::string bad(std::string_view text) const { return paint("31", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool color_;
};

/// Walks the turns and writes them down; remembers the last kernel shown.
class Writer {
 public:
  explicit Writer(const TranscriptStyle& style) : style_(style), paint_(style.color) {}

  std::string turn(const log::LoggedTurn& logged) {
    const model::ChatReply reply = model::parse_reply(logged.reply.reply);
    std::string text = header(logged, reply);
    text += spoken(reply.message.content);
    const auto answers = logged.turn ? agent::parse_lines(logged.turn->tool_output) : std::vector<model::Message>();
    for (const model::ToolCall& call : reply.message.tool_calls) text += called(call);
    if (reply.message.tool_calls.empty() && logged.turn && !logged.turn->kernel.empty())
      text += code(logged.turn->kernel);
    if (!logged.turn) return text + paint_.dim("  (no answer in the log: the writer died here)\n") + "\n";
    for (const model::Message& answer : answers) text += answered(answer, reply.message);
    if (answers.empty() || reply.message.tool_calls.empty()) text += checked(*logged.turn);
    return text + "\n";
  }

 private:
  std::string header(const log::LoggedTurn& logged, const model::ChatReply& reply) const {
    std::string notes = fmt::format("{} + {} tokens", logged.reply.tokens_in, logged.reply.tokens_out);
    if (reply.finish == model::Finish::length) notes += ", cut at the token limit";
    if (logged.reply.api_retries > 0) notes += fmt::format(", {} retries", logged.reply.api_retries);
    if (logged.turn && !logged.turn->flags.empty()) notes += ", " + printable(logged.turn->flags);
    return fmt::format("{}  {}\n", paint_.bold(fmt::format("Turn {}", logged.reply.turn)), paint_.dim(notes));
  }

  /// The reply's words; its code is shown apart.
  std::string spoken(const std::string& content) const {
    const std::string words = model::without_thinking(content);
    const std::size_t fence = words.find("```");
    std::string text = printable(words.substr(0, fence));
    if (fence != std::string::npos) {
      if (const std::size_t last = words.rfind("```"); last != fence)
        text += printable(words.substr(std::min(words.size(), last + 3)));
    }
    return text.find_first_not_of(" \n") == std::string::npos ? "" : indented(text, "  ");
  }

  std::string code(const std::string& source) {
    const std::string shown = changed_lines(style_.full ? "" : kernel_, source);
    const bool same = source == kernel_;
    kernel_ = source;
    return same ? paint_.dim("     (the same kernel as before)\n") : indented(printable(shown), "  | ");
  }

  std::string called(const model::ToolCall& call) {
    const auto arguments = nlohmann::json::parse(shallow_part(call.arguments), nullptr, false);
    std::string text = fmt::format("  -> {}", paint_.bold(printable(call.name)));
    if (arguments.is_object() && arguments.contains("kernel_source") && arguments["kernel_source"].is_string()) {
      return text + "\n" + code(arguments["kernel_source"].get<std::string>());
    }
    return fmt::format("{} {}\n", text, printable(elide_middle(to_valid_utf8(call.arguments), 400)));
  }

  std::string answered(const model::Message& answer, const model::Message& reply) const {
    if (answer.role != model::Role::tool)
      return fmt::format("  <- harness:\n{}", indented(printable(answer.content), "     "));
    std::string name = "tool";
    for (const model::ToolCall& call : reply.tool_calls) {
      if (call.id == answer.tool_call_id) name = call.name;
    }
    const auto json = nlohmann::json::parse(shallow_part(answer.content), nullptr, false);
    if (!json.is_object()) return fmt::format("  <- {}: {}\n", printable(name), printable(answer.content));
    const bool ok = json.value("ok", false);
    std::string text = fmt::format("  <- {}: {}", printable(name), ok ? paint_.good("ok") : paint_.bad("failed"));
    text += summary(json) + "\n";
    for (const char* key : {"error", "message"}) {
      if (json.contains(key) && json[key].is_string())
        text += indented(printable(json[key].get<std::string>()), "     ");
    }
    for (const char* key : {"hints", "warnings", "notes"}) {
      for (const auto& item : json.value(key, nlohmann::json::array()))
        text += indented(printable(item.get<std::string>()), "     ");
    }
    return text;
  }

  static std::string summary(const nlohmann::json& json) {
    std::string text;
    if (json.contains("kernel")) text += fmt::format(" ({})", json["kernel"].get<std::string>());
    if (json.contains("code")) text += " " + json["code"].get<std::string>();
    if (json.contains("line") && json["line"].is_number()) text += fmt::format(" at line {}", json["line"].get<int>());
    if (json.contains("trials"))
      text +=
          fmt::format(", {} of {} trials", json.value("passed", json["trials"].get<int>()), json["trials"].get<int>());
    if (json.contains("max_abs_err") && json["max_abs_err"].is_number())
      text += fmt::format(", max_abs_err {:.2g}", json["max_abs_err"].get<double>());
    return text;
  }

  /// What the harness found out without telling the model.
  std::string checked(const log::Turn& turn) const {
    if (turn.compile_ok == log::kNotDone) return "";
    if (turn.compile_ok == 1) return fmt::format("  == compiles: {}\n", paint_.good("ok"));
    return fmt::format("  == compiles: {} {}\n", paint_.bad("failed"), to_string(turn.code));
  }

  TranscriptStyle style_;
  Painter paint_;
  std::string kernel_;
};

/// Why the final kernel failed, or what its check noted.
std::string found_text(const log::End& end) {
  const auto findings = parse_findings(end.findings);
  std::string text = indented(printable(findings.message), "  ") + indented(printable(findings.hints), "  ");
  if (const auto worst = describe_element(findings.worst); !worst.empty())
    text += fmt::format("  worst element: {}\n", printable(worst));
  if (end.trials > 0) text += fmt::format("  final check: {} of {} trials passed\n", end.trials_passed, end.trials);
  return text;
}

std::string ending(const Transcript& transcript, const Painter& paint) {
  if (!transcript.end) return paint.bold(fmt::format("No outcome: {}", transcript.state)) + "\n";
  const log::End& end = *transcript.end;
  const std::string outcome(to_string(end.outcome));
  std::string text =
      fmt::format("{} {}", paint.bold("Outcome:"), end.passed == 1 ? paint.good(outcome) : paint.bad(outcome));
  if (end.code != Code::none)
    text += fmt::format(" ({}{})", to_string(end.code), end.line > 0 ? fmt::format(", line {}", end.line) : "");
  text += fmt::format("; {} turn{}, ended by {}, attempt {}, {:.1f} s\n", end.turns, end.turns == 1 ? "" : "s",
                      end.ended_by == EndedBy::none ? "the machinery" : to_string(end.ended_by), end.id.attempt,
                      end.seconds);
  if (!end.reason.empty()) text += fmt::format("  {}\n", printable(end.reason));
  text += found_text(end);
  if (std::isfinite(end.max_abs_err))
    text += fmt::format("  final check: max_abs_err {:.2g}, rel_l2 {:.2g}, strict rule {}\n", end.max_abs_err,
                        end.rel_l2, end.strict_passed == 1 ? "passed" : "not passed");
  if (std::isfinite(end.estimate_us)) text += fmt::format("  estimate: {:.2f} us on one NeuronCore\n", end.estimate_us);
  if (end.best_passed == 1 && end.passed == 0)
    text += "  an earlier kernel of this episode passes: the model broke it later\n";
  if (end.synthetic) text += paint.dim("  by the synthetic model, which is no language model\n");
  return text;
}

/// What was found of a turn's newest kernel, and by what: that it compiles says nothing of its numbers.
std::string verdict_of(const log::Turn& turn, const Painter& paint) {
  if (turn.verify_ok == 1 && turn.compile_ok != 0) return paint.good("verified");
  if (turn.code != Code::none) return paint.bad(to_string(turn.code));
  return paint.dim(turn.compile_ok == 1 ? "compiles, not verified" : "not checked");
}

ordered_json messages_json(const std::string& lines) {
  ordered_json list = ordered_json::array();
  for (const model::Message& message : agent::parse_lines(lines))
    list.push_back(ordered_json::parse(model::to_json(message)));
  return list;
}

ordered_json turn_json(const log::LoggedTurn& logged) {
  ordered_json json{{"turn", logged.reply.turn},
                    {"attempt", logged.reply.id.attempt},
                    {"request", messages_json(logged.reply.request)},
                    {"reply", ordered_json::parse(logged.reply.reply)}};
  if (!logged.turn) return json;
  const log::Turn& turn = *logged.turn;
  json["event"] = to_string(turn.event);
  json["nudged"] = turn.nudged;
  json["flags"] = turn.flags;
  json["compile_ok"] = turn.compile_ok;
  json["verify_ok"] = turn.verify_ok;
  json["code"] = to_string(turn.code);
  json["line"] = turn.line;
  json["kernel"] = to_valid_utf8(turn.kernel);
  json["answers"] = messages_json(turn.tool_output);
  return json;
}

}  // namespace

std::string render_text(const Transcript& transcript, const TranscriptStyle& style) {
  const Painter paint(style.color);
  Writer writer(style);
  std::string text = paint.bold(transcript.episode) + "\n\n";
  for (const log::LoggedTurn& turn : transcript.turns) {
    const auto told = writer.turn(turn);  // of every turn: each is shown by what it changed
    if (style.turn == 0 || style.turn == turn.reply.turn) text += told;
  }
  if (style.turn != 0) return text;
  if (transcript.turns.empty()) text += "no turn is in the log\n\n";
  return text + ending(transcript, paint);
}

std::string render_diffs(const Transcript& transcript, const TranscriptStyle& style) {
  const Painter paint(style.color);
  std::string text = paint.bold(transcript.episode) + "\n", before;
  for (const log::LoggedTurn& logged : transcript.turns) {
    if (!logged.turn || logged.turn->kernel.empty()) continue;
    const auto& turn = *logged.turn;
    const bool wanted = style.turn == 0 || style.turn == turn.turn;
    if (wanted)
      text += fmt::format("\n{}  {}\n{}", paint.bold(fmt::format("Turn {}", turn.turn)), verdict_of(turn, paint),
                          turn.kernel == before ? paint.dim("     (the same kernel as before)\n")
                                                : printable(changed_lines(style.full ? "" : before, turn.kernel)));
    before = turn.kernel;
  }
  if (before.empty()) text += "\nno turn gave a kernel\n";
  return style.turn == 0 ? text + "\n" + ending(transcript, paint) : text;
}

std::string render_json(const Transcript& transcript) {
  ordered_json json{{"version", 1},
                    {"episode", transcript.episode},
                    {"turns", ordered_json::array()},
                    {"end", nullptr},
                    {"state", transcript.state}};
  for (const log::LoggedTurn& turn : transcript.turns) json["turns"].push_back(turn_json(turn));
  if (transcript.end) {
    const log::End& end = *transcript.end;
    json["end"] = {{"attempt", end.id.attempt},
                   {"outcome", to_string(end.outcome)},
                   {"ended_by", to_string(end.ended_by)},
                   {"passed", end.passed},
                   {"strict_passed", end.strict_passed},
                   {"best_passed", end.best_passed},
                   {"stage", to_string(end.stage)},
                   {"code", to_string(end.code)},
                   {"line", end.line},
                   {"findings", end.findings.empty() ? ordered_json(nullptr) : ordered_json::parse(end.findings)},
                   {"trials", end.trials},
                   {"trials_passed", end.trials_passed},
                   {"max_abs_err", end.max_abs_err},
                   {"rel_l2", end.rel_l2},
                   {"estimate_us", end.estimate_us},
                   {"turns", end.turns},
                   {"tokens_in", end.tokens_in},
                   {"tokens_out", end.tokens_out},
                   {"cost_usd", end.cost_usd},
                   {"seconds", end.seconds},
                   {"reason", to_valid_utf8(end.reason)}};
  }
  return json_text(json);
}

std::string render_prompt(const std::vector<model::Message>& messages, const std::vector<model::ToolSpec>& tools,
                          bool json) {
  if (json) {
    ordered_json out{{"version", 1}, {"messages", ordered_json::array()}, {"tools", ordered_json::array()}};
    for (const model::Message& message : messages)
      out["messages"].push_back(ordered_json::parse(model::to_json(message)));
    for (const model::ToolSpec& tool : tools) {
      out["tools"].push_back({{"name", tool.name},
                              {"description", tool.description},
                              {"parameters", ordered_json::parse(tool.parameters)}});
    }
    return out.dump(1) + "\n";
  }
  std::string text;
  for (const model::Message& message : messages) {
    text += fmt::format("=== {} ===\n{}\n", message.role == model::Role::system ? "system" : "user",
                        printable(message.content));
  }
  for (const model::ToolSpec& tool : tools)
    text +=
        fmt::format("=== tool {} ===\n{}\n{}\n", tool.name, printable(tool.description), printable(tool.parameters));
  return text;
}

}  // namespace nkigrid::cli
