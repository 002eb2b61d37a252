#include "exports/inspect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "exports/chat_forms.hpp"
#include "exports/dialogue.hpp"
#include "exports/times.hpp"
#include "exports/zip.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/version.hpp"

namespace nkigrid::exports {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kScorer = "nkigrid";
constexpr const char* kNoTime = "1970-01-01T00:00:00.000Z";  ///< a log must name one, and nothing has begun

void put_some(Json& json, const char* key, std::string_view text) {
  if (!text.empty()) json[key] = to_valid_utf8(text);
}
void put_some(Json& json, const char* key, double value) {
  if (std::isfinite(value)) json[key] = value;
}

Json usage_json(std::uint64_t in, std::uint64_t out, std::uint64_t cached, double usd) {
  return {{"input_tokens", in},
          {"output_tokens", out},
          {"total_tokens", in + out},
          {"input_tokens_cache_read", cached},
          {"total_cost", usd}};
}

/// Sums over the conversation that led to the verdict.
Json usage_of(const Story& story) {
  std::uint64_t in = 0, out = 0, cached = 0;
  double usd = 0;
  for (const auto& logged : story.turns) {
    in += logged.reply.tokens_in, out += logged.reply.tokens_out, cached += logged.reply.tokens_cached;
    usd += logged.reply.cost_usd;
  }
  return usage_json(in, out, cached, usd);
}

void add_usage(Json& sum, const Json& usage) {
  for (const auto& [key, value] : usage.items()) {
    if (value.is_number_float())
      sum[key] = sum.value(key, 0.0) + value.get<double>();
    else
      sum[key] = sum.value(key, std::uint64_t{0}) + value.get<std::uint64_t>();
  }
}

Json call_json(const model::ToolCall& call) {
  Json json = {{"id", to_valid_utf8(call.id)}, {"function", to_valid_utf8(call.name)}, {"type", "function"}};
  auto arguments = Json::parse(shallow_part(call.arguments), nullptr, false);
  if (arguments.is_object()) {
    json["arguments"] = std::move(arguments);
  } else {
    json["arguments"] = {{"raw", to_valid_utf8(call.arguments)}};
    json["parse_error"] = "the arguments are no JSON object";
  }
  return json;
}

Json assistant_json(const Utterance& said, const SpokenTurn& turn, const std::string& model) {
  Json json = {{"role", "assistant"}, {"source", "generate"}, {"model", model}};
  if (turn.reply.reasoning.empty()) {
    json["content"] = to_valid_utf8(said.message.content);
  } else {
    const Json thought = {
        {"type", "reasoning"}, {"reasoning", to_valid_utf8(turn.reply.reasoning)}, {"redacted", false}};
    const Json words = {{"type", "text"}, {"text", to_valid_utf8(said.message.content)}};
    json["content"] = Json::array({thought, words});
  }
  for (const auto& call : said.message.tool_calls) json["tool_calls"].push_back(call_json(call));
  return json;
}

Json tool_json(const model::Message& message, const Dialogue& dialogue) {
  Json json = {{"role", "tool"},
               {"content", to_valid_utf8(message.content)},
               {"tool_call_id", to_valid_utf8(message.tool_call_id)}};
  for (const auto& said : dialogue.utterances) {
    for (const auto& call : said.message.tool_calls) {
      if (call.id == message.tool_call_id) json["function"] = to_valid_utf8(call.name);
    }
  }
  if (message.is_error) json["error"] = {{"type", "unknown"}, {"message", to_valid_utf8(message.content)}};
  return json;
}

Json message_json(const Utterance& said, const Dialogue& dialogue, const std::string& model) {
  switch (said.message.role) {
    case model::Role::assistant:
      return assistant_json(said, dialogue.turns[said.turn - 1], model);
    case model::Role::tool:
      return tool_json(said.message, dialogue);
    default:
      break;
  }
  Json json = {{"role", said.message.role == model::Role::system ? "system" : "user"},
               {"content", to_valid_utf8(said.message.content)}};
  if (said.turn == 0) json["source"] = "input";
  return json;
}

const char* stop_reason(model::Finish finish) {
  constexpr std::array kWords = {"stop", "max_tokens", "tool_calls", "content_filter"};
  return kWords[static_cast<std::size_t>(finish)];
}

Json output_json(const Dialogue& dialogue, const std::string& model, const Json& usage) {
  Json output = {{"model", model}, {"choices", Json::array()}, {"completion", ""}};
  const auto last = std::find_if(dialogue.utterances.rbegin(), dialogue.utterances.rend(),
                                 [](const auto& said) { return said.message.role == model::Role::assistant; });
  if (last == dialogue.utterances.rend()) return output;
  const auto& turn = dialogue.turns[last->turn - 1];
  const Json choice = {{"message", assistant_json(*last, turn, model)},
                       {"stop_reason", stop_reason(turn.reply.finish)}};
  output["choices"].push_back(choice);
  output["completion"] = to_valid_utf8(last->message.content);
  output["usage"] = usage;
  return output;
}

Json score_json(const log::End& end, const std::string& kernel) {
  Json metadata = {{"outcome", to_string(end.outcome)},
                   {"strict_passed", end.strict_passed == 1},
                   {"best_passed", end.best_passed == 1},
                   {"ended_by", to_string(end.ended_by)},
                   {"turns", end.turns}};
  put_some(metadata, "code", to_string(end.code));
  put_some(metadata, "group", group_of(end.code));
  put_some(metadata, "stage", to_string(end.stage));
  put_some(metadata, "max_abs_err", end.max_abs_err);
  put_some(metadata, "rel_l2", end.rel_l2);
  put_some(metadata, "estimate_us", end.estimate_us);
  Json score = {{"value", end.passed == 1 ? "C" : "I"}, {"answer", to_valid_utf8(kernel)}};
  const auto findings = Json::parse(shallow_part(end.findings), nullptr, false);
  if (findings.is_object() && findings.contains("message")) score["explanation"] = findings["message"];
  score["metadata"] = std::move(metadata);
  score["history"] = Json::array();
  return score;
}

std::string final_kernel(const Story& story) {
  const auto turn = final_turn(story);
  return turn == 0 ? std::string() : story.turns[turn - 1].turn->kernel;
}

Json sample_json(const jobs::Run& run, const Story& story) {
  const auto& planned = run.plan.episodes[story.place];
  const auto& task = run.plan.tasks[planned.task];
  const auto& model = run.plan.cells[planned.cell].model;
  const auto dialogue = dialogue_of(run, story);
  const auto usage = usage_of(story);
  Json sample = {{"id", task.id}, {"epoch", planned.replicate}, {"input", Json::array()}, {"target", ""}};
  sample["messages"] = Json::array();
  for (const auto& said : dialogue.utterances) {
    sample["messages"].push_back(message_json(said, dialogue, model));
    if (said.turn == 0) sample["input"].push_back(sample["messages"].back());
  }
  sample["output"] = output_json(dialogue, model, usage);
  sample["scores"] = {{kScorer, score_json(*story.end, final_kernel(story))}};
  sample["metadata"] = {{"level", task.level},
                        {"category", task.category},
                        {"episode", to_string(run.plan.id_of(planned))},
                        {"attempt", story.end->id.attempt},
                        {"synthetic", story.end->synthetic}};
  for (const auto* key : {"store", "role_usage", "attachments"}) sample[key] = Json::object();
  sample["events"] = Json::array();
  sample["model_usage"] = {{model, usage}};
  put_some(sample, "started_at", utc_text(story.end->started));
  put_some(sample, "completed_at", utc_text(story.end->started + story.end->seconds));
  put_some(sample, "total_time", story.end->seconds);
  put_some(sample, "uuid", run.run_id + "." + std::to_string(story.place));
  if (story.end->ended_by == EndedBy::context_full) sample["limit"] = {{"type", "context"}, {"limit", 0}};
  return sample;
}

Json summary_json(const Json& sample) {
  Json summary;
  for (const auto* key : {"id", "epoch", "input", "target", "metadata", "scores", "model_usage", "role_usage",
                          "started_at", "completed_at", "total_time", "uuid"}) {
    if (sample.contains(key)) summary[key] = sample[key];
  }
  // What a list of samples shows: the task as posed, the verdict without the kernel.
  if (sample["input"].empty())
    summary["input"] = "";
  else
    summary["input"] = Json::array({sample["input"].back()});
  summary["scores"][kScorer].erase("answer");
  if (sample.contains("limit")) summary["limit"] = sample["limit"]["type"];
  summary["message_count"] = sample["messages"].size();
  summary["completed"] = true;
  return summary;
}

std::string sample_name(const Json& sample) {
  return "samples/" + sample["id"].get<std::string>() + "_epoch_" + std::to_string(sample["epoch"].get<int>()) +
         ".json";
}

}  // namespace

struct InspectLog::State {
  const jobs::Run& run;
  std::uint32_t cell;
  ZipWriter zip;
  Json summaries = Json::array();
  Json usage = Json::object();
  double started = std::numeric_limits<double>::infinity(), ended = 0;
  std::uint64_t episodes = 0, passed = 0;

  Json spec_json() const;
  Json plan_json() const;
  Json results_json() const;
  const jobs::CellSpec& spec_of_cell() const { return run.plan.cells[cell]; }
};

/// EvalSpec: what was asked. Its times and ids are the run's, so that the same run gives the same bytes.
Json InspectLog::State::spec_json() const {
  const auto& own = spec_of_cell();
  const auto& model = run.grid.model(own.model);
  Json config = Json::object();
  if (model.temperature) config["temperature"] = *model.temperature;
  if (model.top_p) config["top_p"] = *model.top_p;
  if (model.max_tokens) config["max_tokens"] = *model.max_tokens;
  const auto id = [&](const char* what) { return run.run_id + "." + what + "." + std::to_string(cell); };
  return {
      {"eval_id", id("eval")},
      {"run_id", run.run_id},
      {"created", std::isfinite(started) ? utc_text(started) : kNoTime},
      {"task", own.id},
      {"task_id", id("task")},
      {"task_version", 0},
      {"task_attribs", Json::object()},
      {"task_args", Json::object()},
      {"task_args_passed", Json::object()},
      {"dataset",
       {{"name", run.benchmark.name}, {"samples", own.tasks.size()}, {"sample_ids", own.tasks}, {"shuffled", false}}},
      {"solver", own.mode},
      {"model", own.model},
      {"model_generate_config", config},
      {"model_args", Json::object()},
      {"config", {{"epochs", own.replicates}, {"epochs_reducer", Json::array({"mean"})}}},
      {"packages", {{"nkigrid", kVersion}}},
      {"metadata", {{"run", run.grid.name}, {"grid_hash", run.grid_hash}, {"mode", own.mode}, {"prompt", own.prompt}}}};
}

Json InspectLog::State::plan_json() const {
  const Json solver = {{"solver", spec_of_cell().mode}, {"params", Json::object()}, {"params_passed", Json::object()}};
  return {{"name", "plan"}, {"steps", Json::array({solver})}, {"config", Json::object()}};
}

/// The rate of `tables` for a cell of which every task has as many replicates: passed over episodes.
Json InspectLog::State::results_json() const {
  const auto scored = summaries.size();
  const double accuracy = scored == 0 ? 0 : static_cast<double>(passed) / static_cast<double>(scored);
  const Json metric = {{"name", "accuracy"}, {"value", accuracy}, {"params", Json::object()}};
  const Json score = {{"name", kScorer},
                      {"scorer", kScorer},
                      {"params", Json::object()},
                      {"scored_samples", scored},
                      {"unscored_samples", episodes - scored},
                      {"metrics", {{"accuracy", metric}}}};
  return {{"total_samples", episodes}, {"completed_samples", scored}, {"scores", Json::array({score})}};
}

InspectLog::InspectLog(const jobs::Run& run, std::uint32_t cell, const std::filesystem::path& path)
    : state_(new State{.run = run, .cell = cell, .zip = ZipWriter(path)}) {}

InspectLog::~InspectLog() = default;

void InspectLog::add(const Story& story) {
  ++state_->episodes;
  if (!story.end) return;
  const auto sample = sample_json(state_->run, story);
  state_->zip.add(sample_name(sample), dumped(sample));
  state_->summaries.push_back(summary_json(sample));
  add_usage(state_->usage, sample["model_usage"].begin().value());
  state_->passed += story.end->passed == 1 ? 1 : 0;
  state_->started = std::min(state_->started, story.end->started);
  state_->ended = std::max(state_->ended, story.end->started + story.end->seconds);
}

void InspectLog::finish() {
  auto& zip = state_->zip;
  const auto spec = state_->spec_json();
  const bool whole = state_->summaries.size() == state_->episodes;
  zip.add("_journal/start.json", dumped({{"version", 2}, {"eval", spec}, {"plan", state_->plan_json()}}));
  zip.add("_journal/summaries/1.json", dumped(state_->summaries));
  zip.add("summaries.json", dumped(state_->summaries));
  Json usage = Json::object();
  if (!state_->usage.empty()) usage[state_->spec_of_cell().model] = state_->usage;
  zip.add("header.json", dumped({{"version", 2},
                                 {"status", whole ? "success" : "started"},
                                 {"eval", spec},
                                 {"plan", state_->plan_json()},
                                 {"results", state_->results_json()},
                                 {"stats",
                                  {{"started_at", spec["created"]},
                                   {"completed_at", utc_text(state_->ended)},
                                   {"model_usage", usage},
                                   {"role_usage", Json::object()},
                                   {"connection_limit_history", Json::array()}}},
                                 {"invalidated", false},
                                 {"tags", Json::array()},
                                 {"metadata", Json::object()}}));
  zip.close();
}

std::uint64_t InspectLog::samples() const noexcept { return state_->summaries.size(); }

}  // namespace nkigrid::exports
