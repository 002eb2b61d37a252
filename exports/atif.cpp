#include "exports/atif.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "exports/chat_forms.hpp"
#include "exports/dialogue.hpp"
#include "exports/times.hpp"
#include "jobs/base/json_depth.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/version.hpp"

namespace nkigrid::exports {
namespace {

using Json = nlohmann::ordered_json;

void put_if(Json& json, const char* key, Json value) {
  const bool empty = value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty());
  if (!empty) json[key] = std::move(value);
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Arguments as an object; what is none stands under `raw`, as it came.
Json arguments_of(const std::string& text) {
  auto arguments = Json::parse(shallow_part(text), nullptr, false);
  return arguments.is_object() ? arguments : Json{{"raw", to_valid_utf8(text)}};
}

Json calls_json(const model::Message& message) {
  Json calls = Json::array();
  for (const auto& call : message.tool_calls) {
    calls.push_back({{"tool_call_id", to_valid_utf8(call.id)},
                     {"function_name", to_valid_utf8(call.name)},
                     {"arguments", arguments_of(call.arguments)}});
  }
  return calls;
}

Json metrics_json(const log::Reply& reply) {
  Json metrics = {{"prompt_tokens", reply.tokens_in},
                  {"completion_tokens", reply.tokens_out},
                  {"cached_tokens", reply.tokens_cached},
                  {"cost_usd", reply.cost_usd}};
  metrics["extra"] = {{"llm_s", finite(reply.llm_s)}, {"wait_s", finite(reply.wait_s)}, {"retries", reply.api_retries}};
  return metrics;
}

/// What the harness found out about a turn, told to the model or not.
Json checks_json(const log::LoggedTurn& logged) {
  Json extra = {
      {"turn", logged.reply.turn}, {"attempt", logged.reply.id.attempt}, {"answered", logged.turn.has_value()}};
  if (!logged.turn) return extra;
  const auto& turn = *logged.turn;
  extra["event"] = to_string(turn.event);
  put_if(extra, "flags", turn.flags);
  if (turn.compile_ok != log::kNotDone) extra["compile_ok"] = turn.compile_ok == 1;
  if (turn.verify_ok != log::kNotDone) extra["verify_ok"] = turn.verify_ok == 1;
  put_if(extra, "stage", std::string(to_string(turn.stage)));
  put_if(extra, "code", std::string(to_string(turn.code)));
  if (turn.line > 0) extra["line"] = turn.line;
  put_if(extra, "max_abs_err", finite(turn.max_abs_err));
  put_if(extra, "rel_l2", finite(turn.rel_l2));
  put_if(extra, "estimate_us", finite(turn.estimate_us));
  return extra;
}

Json agent_step(const Utterance& said, const SpokenTurn& turn, const std::string& model) {
  Json step = {{"source", "agent"}, {"model_name", model}, {"message", to_valid_utf8(said.message.content)}};
  put_if(step, "reasoning_content", to_valid_utf8(turn.reply.reasoning));
  if (!said.message.tool_calls.empty()) step["tool_calls"] = calls_json(said.message);
  step["metrics"] = metrics_json(turn.logged->reply);
  step["llm_call_count"] = 1;
  step["extra"] = checks_json(*turn.logged);
  return step;
}

/// What a tool answered belongs to the step that called it.
void observe(Json& step, const model::Message& message) {
  Json result = {{"source_call_id", to_valid_utf8(message.tool_call_id)}, {"content", to_valid_utf8(message.content)}};
  if (message.is_error) result["extra"] = {{"is_error", true}};
  step["observation"]["results"].push_back(std::move(result));
}

Json steps_json(const Dialogue& dialogue, const std::string& model) {
  Json steps = Json::array();
  for (const auto& said : dialogue.utterances) {
    switch (said.message.role) {
      case model::Role::assistant:
        steps.push_back(agent_step(said, dialogue.turns[said.turn - 1], model));
        break;
      case model::Role::tool:
        observe(steps.back(), said.message);
        continue;
      default:
        steps.push_back({{"source", said.message.role == model::Role::system ? "system" : "user"},
                         {"message", to_valid_utf8(said.message.content)}});
    }
  }
  Json numbered = Json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Json step = {{"step_id", i + 1}};
    step.update(steps[i]);
    numbered.push_back(std::move(step));
  }
  return numbered;
}

Json final_metrics(const Story& story, std::size_t steps) {
  std::uint64_t in = 0, out = 0, cached = 0;
  double usd = 0;
  for (const auto& logged : story.turns) {
    in += logged.reply.tokens_in, out += logged.reply.tokens_out, cached += logged.reply.tokens_cached;
    usd += logged.reply.cost_usd;
  }
  return {{"total_prompt_tokens", in},
          {"total_completion_tokens", out},
          {"total_cached_tokens", cached},
          {"total_cost_usd", usd},
          {"total_steps", steps}};
}

Json verdict_json(const log::End& end) {
  Json verdict = {{"outcome", to_string(end.outcome)},
                  {"passed", end.passed == 1},
                  {"strict_passed", end.strict_passed == 1},
                  {"best_passed", end.best_passed == 1},
                  {"ended_by", to_string(end.ended_by)},
                  {"attempt", end.id.attempt},
                  {"synthetic", end.synthetic}};
  put_if(verdict, "code", std::string(to_string(end.code)));
  put_if(verdict, "stage", std::string(to_string(end.stage)));
  if (end.line > 0) verdict["line"] = end.line;
  put_if(verdict, "max_abs_err", finite(end.max_abs_err));
  put_if(verdict, "rel_l2", finite(end.rel_l2));
  put_if(verdict, "estimate_us", finite(end.estimate_us));
  put_if(verdict, "started", utc_text(end.started));
  verdict["seconds"] = finite(end.seconds);
  return verdict;
}

}  // namespace

std::string atif_document(const jobs::Run& run, const Story& story) {
  const auto& planned = run.plan.episodes[story.place];
  const auto& cell = run.plan.cells[planned.cell];
  const auto dialogue = dialogue_of(run, story);
  const auto id = to_string(run.plan.id_of(planned));
  Json agent = {{"name", cell.mode}, {"version", kVersion}, {"model_name", cell.model}};
  if (!dialogue.tools.empty()) agent["tool_definitions"] = tools_json(dialogue.tools);
  agent["extra"] = {{"harness", "nkigrid"}, {"prompt", cell.prompt}};
  const auto steps = steps_json(dialogue, cell.model);
  Json document = {{"schema_version", "ATIF-v1.7"},
                   {"session_id", run.run_id},
                   {"trajectory_id", id},
                   {"agent", std::move(agent)},
                   {"steps", steps},
                   {"final_metrics", final_metrics(story, steps.size())}};
  document["extra"] = {{"task", run.plan.tasks[planned.task].id},
                       {"level", run.plan.tasks[planned.task].level},
                       {"category", run.plan.tasks[planned.task].category},
                       {"replicate", planned.replicate},
                       {"key", run.plan.key(planned.cell, planned.task)}};
  document["extra"]["verdict"] = story.end ? verdict_json(*story.end) : Json(nullptr);
  return dumped(document) + "\n";
}

}  // namespace nkigrid::exports
