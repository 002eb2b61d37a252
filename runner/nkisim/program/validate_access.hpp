#pragma once

#include "runner/nkisim/program/validate_state.hpp"

namespace nkigrid::nkisim {

/// What an access is used for.
struct Use {
  bool written = false;
  bool checked_when_run = false;  ///< a mask or a condition may be what makes it legal
  bool dma = false;               ///< may touch HBM and start at any partition
  bool may_be_dynamic = false;
  bool one_tile = false;  ///< its slots must not walk over block dimensions
};

/// The rules of indices and accesses: what they may name, bounds, NKI's law of partitions. All @throws Error{corrupt}.
/// Internal to the room.
class AccessRules {
 public:
  explicit AccessRules(ValidateState& state) : state_(state) {}

  void index(const Index& index, std::size_t rank);
  void access(const Access& access, const std::vector<std::int64_t>& shape, const Use& use);
  /// An access that is written, in operations that run `times` times.
  void destination(const Access& access, const std::vector<std::int64_t>& shape, Use use, double times);
  void psum_bank(const Access& access, const std::vector<std::int64_t>& shape);

 private:
  void affine(const Affine& affine);
  void index_tile(const Access& access, const std::vector<std::int64_t>& shape, const Use& use);
  void bounds(const Access& access, const std::vector<std::int64_t>& shape, const Use& use);
  void partition_start(const Access& access, const std::vector<std::int64_t>& shape);

  ValidateState& state_;
};

}  // namespace nkigrid::nkisim
