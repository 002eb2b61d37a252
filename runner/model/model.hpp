#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"

namespace nkigrid::model {

/// A chat endpoint. @threads complete() from many lanes at once.
class ChatModel {
 public:
  virtual ~ChatModel() = default;
  /// One reply; retries inside, a retry is never a turn.
  /// @throws ChatError
  virtual ChatReply complete(const ChatRequest& request, std::stop_token stop) = 0;
};

/// An endpoint's concurrency, shared by every rank; the runner implements it over MPI.
class Permits {
 public:
  virtual ~Permits() = default;
  /// Waits for one of the model's permits; false when `stop` fired.
  virtual bool acquire(const std::string& model, std::stop_token stop) = 0;
  virtual void release(const std::string& model) = 0;
};

/// Builds the model that a grid names. Reads its key now (the fork servers exist already).
/// @param benchmark tasks and known kernels, for the synthetic model
/// @param profiles folder of profile files (RUN/inputs/profiles or configs/profiles)
/// @param permits outlives the model; null: no limit
/// @throws Error{config} for an unreadable key, a missing profile or known kernel.
std::unique_ptr<ChatModel> make_model(const jobs::ModelSpec& spec, const jobs::Benchmark& benchmark,
                                      const std::filesystem::path& profiles, Permits* permits);

}  // namespace nkigrid::model
