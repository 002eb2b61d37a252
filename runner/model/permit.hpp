#pragma once

#include <stop_token>
#include <string>

#include "runner/model/model.hpp"

namespace nkigrid::model {

/// Holds one of an endpoint's permits for its own lifetime.
class PermitLease {
 public:
  /// @param permits null: no limit
  /// @throws ChatError{interrupted} when `stop` fired before there was one
  PermitLease(Permits* permits, std::string model, const std::stop_token& stop)
      : permits_(permits), model_(std::move(model)) {
    if (permits_ != nullptr && !permits_->acquire(model_, stop)) {
      throw ChatError(ChatFailure::interrupted, "stopped while waiting for a permit of model '" + model_ + "'");
    }
  }
  ~PermitLease() {
    if (permits_ != nullptr) permits_->release(model_);
  }
  PermitLease(const PermitLease&) = delete;
  PermitLease& operator=(const PermitLease&) = delete;

 private:
  Permits* permits_;
  std::string model_;
};

}  // namespace nkigrid::model
