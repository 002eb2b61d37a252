#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/circuit.hpp"
#include "runner/log/endpoint_notes.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::runner {

/// The door through which every request of a rank goes: a circuit a model (reach), then the permits of those with a
/// limit (acquire). An outage is the endpoint's: once a request has found it away its model is given up, and its
/// episodes keep their tries and stay outstanding (docs/decisions/outages.md).
/// @threads any number of lanes
class EndpointGate final : public model::Permits {
 public:
  /// Hears that the endpoint of a model fails, or takes fewer requests than the grid allows ("" as text: it does
  /// neither any more). Called from a lane.
  using Notes = std::function<void(const std::string& model, const std::string& text, log::EndpointNote kind)>;

  /// @param permits of the models with a limit; outlives this
  EndpointGate(const jobs::Grid& grid, model::Permits& permits, const Clock& clock, Notes notes);
  ~EndpointGate() override;  ///< takes its notes back

  bool reach(const std::string& model, std::stop_token stop) override;
  bool acquire(const std::string& model, std::stop_token stop) override;
  void release(const std::string& model) override;
  void heard(const std::string& model, int status) override;
  void narrowed(const std::string& model, std::uint32_t limit) override;

  /// A request has found the model's endpoint away: it gets none any more.
  void give_up(const std::string& model);
  /// True when give_up() was called.
  bool given_up(const std::string& model) const;

 private:
  struct Model {
    bool limited = false;
    Circuit circuit = {};
    bool given_up = false;
    bool noted = false;           ///< that it fails
    std::uint32_t limit = 0;      ///< narrowed(), as last noted
    Seconds limit_noted_at = {};  ///< when that was
  };

  model::Permits& permits_;
  const Clock& clock_;
  Notes notes_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Model> models_;  ///< those behind an endpoint; what changes of one is under mutex_
};

}  // namespace nkigrid::runner
