#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <stop_token>
#include <string>

#include "runner/model/client.hpp"

/// What tests of the client share: a model behind a scripted server, one request, and how it failed.
namespace nkigrid::test {

inline const std::string kGood =
    R"({"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":3,"completion_tokens":1}})";

inline constexpr model::ClientTuning kQuick{Seconds(0.002), Seconds(0.01), Seconds(0.2), Seconds(0.15), Seconds(0)};

inline jobs::ModelSpec spec(const std::string& endpoint) {
  jobs::ModelSpec model;
  model.name = "qwen";
  model.api = jobs::OpenAi{.remote = {.endpoint = endpoint, .model = "qwen"}};
  model.request_timeout = Seconds(5);
  model.retry_limit = Seconds(20);
  return model;
}

inline model::ChatRequest hello() {
  model::ChatRequest request;
  request.messages = {{model::Role::user, "hello", {}, "", false}};
  return request;
}

struct Failure {
  std::optional<model::ChatFailure> kind;
  std::string text;
};

inline Failure failure_of(model::ChatClient& model, std::stop_token stop = {}) {
  try {
    model.complete(hello(), stop);
  } catch (const model::ChatError& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    return {error.failure, error.what()};
  }
  return {};
}

}  // namespace nkigrid::test
