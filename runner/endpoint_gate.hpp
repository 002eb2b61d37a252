#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "jobs/base/clock.hpp"
#include "jobs/grid/grid.hpp"
#include "runner/circuit.hpp"
#include "runner/model/model.hpp"

namespace nkigrid::runner {

/// The door through which every request of a rank goes: a circuit a model (reach), then the permits of those with a
/// limit (acquire). An outage is the endpoint's: episodes that find no reply while it is away keep their tries, their
/// model is given up after its retry_limit, and they stay outstanding (docs/decisions/outages.md).
/// @threads any number of lanes
class EndpointGate final : public model::Permits {
 public:
  /// Hears that the endpoint of a model fails ("" as text: it works again). Called from a lane.
  using Notes = std::function<void(const std::string& model, const std::string& text)>;

  /// @param permits of the models with a limit; outlives this
  EndpointGate(const jobs::Grid& grid, model::Permits& permits, const Clock& clock, Notes notes);
  ~EndpointGate() override;  ///< takes its notes back

  bool reach(const std::string& model, std::stop_token stop) override;
  bool acquire(const std::string& model, std::stop_token stop) override;
  void release(const std::string& model) override;
  void heard(const std::string& model, int status) override;

  /// A request of `episode` found no reply within the model's retry_limit. @returns true when the endpoint is away: the
  /// model gets no request any more
  bool gives_up(const std::string& model, std::uint32_t episode);
  /// True when gives_up() was.
  bool given_up(const std::string& model) const;

 private:
  struct Model {
    bool limited = false;
    Seconds patience{0};
    Circuit circuit = {};
    bool given_up = false, noted = false;
  };

  model::Permits& permits_;
  const Clock& clock_;
  Notes notes_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Model> models_;  ///< those behind an endpoint; what changes of one is under mutex_
};

}  // namespace nkigrid::runner
