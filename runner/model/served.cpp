#include "runner/model/served.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/text.hpp"
#include "jobs/base/wrapped.hpp"
#include "runner/model/client.hpp"
#include "runner/model/json_text.hpp"
#include "runner/model/key.hpp"
#include "runner/model/load_http.hpp"
#include "runner/model/wire/wire.hpp"

namespace nkigrid::model {
namespace {

constexpr std::size_t kShownModels = 8;

const jobs::Remote& remote_behind(const jobs::ModelSpec& spec) {
  if (const auto* remote = jobs::remote_of(spec.api)) return *remote;
  throw Error(ErrorCode::internal, fmt::format("model '{}' has no endpoint to ask", spec.name));
}

Wire wire_behind(const jobs::ModelSpec& spec) {
  return std::visit(
      [&](const auto& api) -> Wire {
        if constexpr (requires { api.remote; }) return wire_of(api);
        throw Error(ErrorCode::internal, fmt::format("model '{}' has no wire", spec.name));
      },
      spec.api);
}

constexpr std::size_t kMostListBytes = std::size_t{8} << 20;  // the longest lists of today have one

/// A model in a server's list.
struct ListedModel {
  std::string id;
  std::uint64_t context = 0;  ///< tokens of prompt and reply together; 0: the list does not say
};

/// Under the names that vLLM and SGLang, OpenRouter, LM Studio and Groq give it.
std::uint64_t context_in(const nlohmann::json& model) {
  for (const char* name : {"max_model_len", "context_length", "max_context_length", "context_window"}) {
    if (const auto at = model.find(name); at != model.end() && at->is_number_unsigned()) return *at;
  }
  return 0;
}

/// What is in {"data": [{"id": "m"}, ...]}; nothing where the body is no such list.
std::vector<ListedModel> models_in(const std::string& body) {
  std::vector<ListedModel> models;
  if (body.size() > kMostListBytes) return models;
  const auto list = parse_json(body);
  if (!list.is_object() || !list.contains("data") || !list["data"].is_array()) return models;
  for (const auto& model : list["data"]) {
    if (model.is_object() && model.contains("id") && model["id"].is_string())
      models.push_back({model["id"], context_in(model)});
  }
  return models;
}

/// One line, bounded: it is a server's.
std::string words_of(const std::string& body) { return one_line(elide_middle(to_valid_utf8(body), 200)); }

std::string shown(std::vector<std::string> ids) {
  const auto more = ids.size() > kShownModels ? fmt::format(" and {} more", ids.size() - kShownModels) : std::string();
  ids.resize(std::min(ids.size(), kShownModels));
  for (auto& id : ids) id = words_of(id);
  return fmt::to_string(fmt::join(ids, ", ")) + more;
}

/// What requests will say otherwise than the grid does, and what that means.
std::string wishes_of(const Dialect& dialect, const jobs::ModelSpec& spec) {
  std::string words;
  if (dialect.max_completion_tokens) words += "; it wants max_completion_tokens, which requests will say";
  if (dialect.no_seed) words += "; it takes no seed, so that replicates differ by chance alone";
  if (const auto names = left_out(dialect, spec); !names.empty())
    words += fmt::format("; it refuses {}: requests go without, and `tables --table readings` counts them", names);
  return words;
}

/// What the server says of the model that the grid asks for.
std::string words_of_served(const ListedModel& served, const jobs::ModelSpec& spec) {
  const auto& remote = remote_behind(spec);
  if (served.context == 0) return fmt::format("{} serves '{}'", remote.endpoint, remote.model);
  if (spec.max_tokens && *spec.max_tokens >= served.context) {
    throw Error(ErrorCode::external,
                fmt::format("{} serves '{}' with a context of {} tokens (models.{}.max_tokens is {}, which leaves no "
                            "room for a prompt); lower max_tokens",
                            remote.endpoint, remote.model, served.context, spec.name, *spec.max_tokens));
  }
  return fmt::format("{} serves '{}' with a context of {} tokens", remote.endpoint, remote.model, served.context);
}

std::string judge(const HttpAnswer& answer, const jobs::ModelSpec& spec) {
  const auto& remote = remote_behind(spec);
  if (answer.status == 401 || answer.status == 403) {
    throw Error(ErrorCode::external, fmt::format("{} refuses the key (HTTP {}: {}); look at models.NAME.key",
                                                 remote.endpoint, answer.status, words_of(answer.body)));
  }
  if (answer.status != 200)
    return fmt::format("{} answers; it lists no models (HTTP {})", remote.endpoint, answer.status);
  const auto models = models_in(answer.body);
  if (models.empty()) return fmt::format("{} answers; it lists no models", remote.endpoint);
  std::vector<std::string> ids;
  for (const auto& model : models) {
    if (model.id == remote.model) return words_of_served(model, spec);
    ids.push_back(model.id);
  }
  throw Error(ErrorCode::external, fmt::format("{} does not serve '{}'{}; it has: {}", remote.endpoint, remote.model,
                                               did_you_mean(remote.model, ids), shown(ids)));
}

}  // namespace

std::string look_at_served(const jobs::ModelSpec& spec, Seconds timeout) {
  const auto& remote = remote_behind(spec);
  if (std::holds_alternative<jobs::Bedrock>(spec.api))
    return fmt::format("{} is not asked: it lists no models; --probe asks for a token", remote.endpoint);
  const auto key = read_keys_of(spec.api);
  HttpRequest request{.url = url_below(remote.endpoint, "/models"), .headers = {}, .body = {}};
  for (const auto& header : key.headers) request.headers.push_back(header);
  wire_behind(spec).sign(request, spec, key, SystemClock().unix_seconds());
  auto answer = make_http_client()->get(request, {.timeout = timeout}, {});
  answer.body = key.mask.hide(std::move(answer.body));
  if (answer.transport != Transport::answered) {
    throw Error(ErrorCode::external, fmt::format("{} does not answer ({}); start the server, or look at the address "
                                                 "and the firewall",
                                                 remote.endpoint, key.mask.hide(answer.problem)));
  }
  return judge(answer, spec);
}

std::string ask_for_a_word(jobs::ModelSpec spec, Seconds timeout) {
  const auto& remote = remote_behind(spec);
  const auto key = read_keys_of(spec.api);
  spec.max_tokens = std::min(spec.max_tokens.value_or(kProbeTokens), kProbeTokens);
  spec.retry_limit = Seconds(1);
  spec.request_timeout = timeout;
  const auto begun = std::chrono::steady_clock::now();
  ChatClient client(spec, wire_behind(spec), key, nullptr);
  const ChatRequest request{
      .messages = {{.role = Role::user, .content = "Answer with one word: yes."}}, .tools = {}, .seed = 1};
  const auto reply = client.complete(request, {});
  return fmt::format("{} gave {} token{} for {} in {:.1f} s{}", remote.model, reply.usage.output,
                     reply.usage.output == 1 ? "" : "s", reply.usage.input,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(),
                     wishes_of(client.dialect(), spec));
}

}  // namespace nkigrid::model
