#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/benchmark.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/servers/places.hpp"

namespace nkigrid::model {

/// A chat endpoint. @threads complete() from many lanes at once.
class ChatModel {
 public:
  virtual ~ChatModel() = default;
  /// One reply; retries inside, a retry is never a turn.
  /// @throws ChatError
  virtual ChatReply complete(const ChatRequest& request, std::stop_token stop) = 0;
};

/// Some server is at work behind the endpoint: it did as asked, or refused a request for a reason of its own.
/// @param status as Permits::heard()
constexpr bool is_at_work(int status) noexcept {
  return status >= 200 && status < 500 && status != 408 && status != 429;
}

/// Whether a request may go out now: an endpoint's concurrency, shared by every rank, and whether it is there at all.
/// The runner implements it.
class Permits {
 public:
  virtual ~Permits() = default;
  /// Waits while the endpoint is known to be away; false when `stop` fired, or when it is given up. What is waited here
  /// is the endpoint's doing, unlike what acquire() waits, which is the grid's.
  virtual bool reach(const std::string&, std::stop_token) { return true; }
  /// Waits for one of the model's permits; false when `stop` fired.
  virtual bool acquire(const std::string& model, std::stop_token stop) = 0;
  virtual void release(const std::string& model) = 0;
  /// What came of a request that was let through. @param status of the HTTP answer; 0: none came; 500: one that is no
  /// answer to what was asked, whatever its status says
  virtual void heard(const std::string&, int) {}
  /// How many requests of this process the endpoint takes at once, as far as is known. @param limit 0: as many as the
  /// grid allows
  virtual void narrowed(const std::string&, std::uint32_t) {}
};

/// Builds the models that a grid names. Reads their keys now (the fork servers exist already); every key is hidden in
/// what any server sends.
/// @param benchmark tasks and known kernels, for the synthetic model
/// @param profiles folder of profile files (RUN/inputs/profiles or configs/profiles)
/// @param permits outlives the models; every request of a model with an endpoint asks it, of others those with a
/// concurrency
/// @param servers where those are found that are kept for models
/// @param taken keys that were in the environment, see take_environment_keys()
/// @returns by name
/// @throws Error{config} for an unreadable key, a missing profile or known kernel.
std::map<std::string, std::unique_ptr<ChatModel>> make_models(const std::vector<jobs::ModelSpec>& specs,
                                                              const jobs::Benchmark& benchmark,
                                                              const std::filesystem::path& profiles, Permits& permits,
                                                              const std::map<std::string, std::string>& taken = {},
                                                              const ServerPlaces& servers = {});

}  // namespace nkigrid::model
