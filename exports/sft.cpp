#include "exports/sft.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "exports/chat_forms.hpp"
#include "exports/chosen.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/base/text.hpp"

namespace nkigrid::exports {
namespace {

using Json = nlohmann::ordered_json;

Json arguments_json(const agent::DecodedCall& call) {
  Json json = Json::object();
  if (call.tool == jobs::Tool::compile) json["kernel_source"] = to_valid_utf8(call.source);
  if (call.trials) json["trials"] = *call.trials;
  if (call.entry) json["entry"] = to_valid_utf8(*call.entry);
  if (call.file) json["file"] = to_valid_utf8(*call.file);
  if (call.file && call.line > 1) json["line"] = call.line;
  return json;
}

const char* role_word(model::Role role) {
  constexpr std::array kWords = {"system", "user", "assistant", "tool"};
  return kWords[static_cast<std::size_t>(role)];
}

/// What a message of `openai` and `trl` has in common: role, content (never null), calls, what a tool answers.
Json chat_message(const TaughtMessage& taught, ArgumentsAs form) {
  Json json = {{"role", role_word(taught.role)}, {"content", to_valid_utf8(taught.content)}};
  for (const auto& call : taught.calls) {
    const auto arguments = arguments_json(call.arguments);
    json["tool_calls"].push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function",
          {{"name", to_valid_utf8(call.name)},
           {"arguments", form == ArgumentsAs::object ? arguments : Json(dumped(arguments))}}}});
  }
  if (taught.role == model::Role::tool) json["tool_call_id"] = taught.answers;
  return json;
}

Json openai_row(const Lesson& lesson, ArgumentsAs arguments) {
  Json row = {{"messages", Json::array()}};
  for (const auto& taught : lesson.messages) {
    auto message = chat_message(taught, arguments);
    if (taught.role == model::Role::assistant) message["weight"] = taught.trains ? 1 : 0;
    row["messages"].push_back(std::move(message));
  }
  if (!lesson.tools.empty()) row["tools"] = tools_json(lesson.tools);
  return row;
}

Json trl_row(const Lesson& lesson, ArgumentsAs arguments) {
  Json row = {{"messages", Json::array()}};
  for (const auto& taught : lesson.messages) {
    auto message = chat_message(taught, arguments);
    if (taught.role == model::Role::tool) message["name"] = to_valid_utf8(taught.tool);
    if (!taught.reasoning.empty()) message["reasoning_content"] = to_valid_utf8(taught.reasoning);
    message["train"] = taught.trains;
    row["messages"].push_back(std::move(message));
  }
  row["tools"] = lesson.tools.empty() ? Json(nullptr) : Json(dumped(tools_json(lesson.tools)));
  return row;
}

/// Text of a turn with its calls and answers in tags, as the sets of function calling in this form have them.
std::string sharegpt_text(const TaughtMessage& taught) {
  if (taught.role == model::Role::tool) {
    const Json answer = {{"name", to_valid_utf8(taught.tool)}, {"content", to_valid_utf8(taught.content)}};
    return fmt::format("<tool_response>\n{}\n</tool_response>", dumped(answer));
  }
  auto text = taught.reasoning.empty() ? std::string() : fmt::format("<think>\n{}\n</think>\n", taught.reasoning);
  text += taught.content;
  for (const auto& call : taught.calls) {
    const Json said = {{"name", to_valid_utf8(call.name)}, {"arguments", arguments_json(call.arguments)}};
    text += fmt::format("{}<tool_call>\n{}\n</tool_call>", text.empty() ? "" : "\n", dumped(said));
  }
  return to_valid_utf8(text);
}

Json sharegpt_row(const Lesson& lesson) {
  constexpr std::array kSpeakers = {"system", "human", "gpt", "tool"};
  Json row = {{"conversations", Json::array()}};
  for (const auto& taught : lesson.messages) {
    auto& said = row["conversations"];
    const auto* from = kSpeakers[static_cast<std::size_t>(taught.role)];
    // Several answers are one turn: speakers alternate.
    if (taught.role == model::Role::tool && said.back()["from"] == from) {
      said.back()["value"] = said.back()["value"].get<std::string>() + "\n" + sharegpt_text(taught);
      continue;
    }
    said.push_back({{"from", from}, {"value", sharegpt_text(taught)}, {"weight", taught.trains ? 1 : 0}});
  }
  row["tools"] = dumped(tools_json(lesson.tools));
  return row;
}

Json row_of(const Lesson& lesson, const SftOptions& options) {
  switch (options.form) {
    case SftForm::openai:
      return openai_row(lesson, options.arguments);
    case SftForm::trl:
      return trl_row(lesson, options.arguments);
    case SftForm::sharegpt:
      return sharegpt_row(lesson);
  }
  return {};
}

/// Whose row it is; `openai` takes no column that it does not know.
void put_origin(Json& row, const jobs::Run& run, const Story& story) {
  const auto& planned = run.plan.episodes[story.place];
  const auto& task = run.plan.tasks[planned.task];
  row["episode"] = to_string(run.plan.id_of(planned));
  row["task"] = task.id;
  row["level"] = task.level;
  row["category"] = task.category;
  row["outcome"] = to_string(story.end->outcome);
}

}  // namespace

SftWriter::SftWriter(const jobs::Run& run, SftOptions options, Write write)
    : run_(run), options_(std::move(options)), write_(std::move(write)) {}

bool SftWriter::is_wanted(const Story& story, const std::string& task) {
  const bool held_out = std::any_of(options_.held_out.begin(), options_.held_out.end(),
                                    [&](const auto& pattern) { return matches(pattern, task); });
  if (held_out) {
    counts_.held_out_tasks.insert(task);
    return ++counts_.held_out, false;
  }
  if (!story.end) return ++counts_.outstanding, false;
  if (!story.is_whole()) return ++counts_.damaged, false;
  const bool ends_well = options_.end == LessonEnd::last_turn || passing_turn(story) > 0;
  if ((options_.passed_only && story.end->passed != 1) || !ends_well) return ++counts_.not_passed, false;
  return true;
}

void SftWriter::add(const Story& story) {
  ++counts_.episodes;
  if (!is_wanted(story, run_.plan.tasks[run_.plan.episodes[story.place].task].id)) return;
  const auto lesson = lesson_of(dialogue_of(run_, story), story, options_.end);
  if (lesson.trained == 0) {
    ++counts_.nothing_to_learn;
    return;
  }
  auto row = row_of(lesson, options_);
  if (options_.once && !seen_.insert(sha256_hex(dumped(row))).second) {
    ++counts_.repeated;
    return;
  }
  counts_.turns_left_out += lesson.turns_left_out;
  ++counts_.rows;
  if (options_.form != SftForm::openai) put_origin(row, run_, story);
  write_(dumped(row) + "\n");
}

std::vector<std::string> describe(const SftCounts& counts) {
  std::vector<std::string> lines = {fmt::format("{} rows of {} episodes", counts.rows, counts.episodes)};
  const auto say = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) lines.push_back(fmt::format("left out: {} {}", count, what));
  };
  if (counts.held_out > 0)
    lines.push_back(fmt::format("held out: {} episodes of {} tasks ({})", counts.held_out, counts.held_out_tasks.size(),
                                fmt::join(counts.held_out_tasks, ", ")));
  say(counts.outstanding, "episodes that are outstanding");
  say(counts.damaged, "episodes of whose turns damage took some");
  say(counts.not_passed, "episodes that did not pass");
  say(counts.nothing_to_learn, "episodes of which no turn is good");
  say(counts.repeated, "rows that say the same as one before");
  say(counts.turns_left_out, "turns with a call that does not parse");
  return lines;
}

}  // namespace nkigrid::exports
