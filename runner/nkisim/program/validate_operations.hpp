#pragma once

#include "runner/nkisim/program/validate_access.hpp"

namespace nkigrid::nkisim {

struct SpecialOperation;

/// The rules of operations: their form, functions, dtypes, sizes. All @throws Error{corrupt}. Internal to the room.
class OperationRules {
 public:
  explicit OperationRules(ValidateState& state) : state_(state), accesses_(state) {}

  /// Of an operation that runs `times` times.
  void check(const Map& map, double times);
  void check(const Fold& fold, double times);
  void check(const Matmul& matmul, double times);
  void check(const Scan& scan, double times);
  void check(const SpecialOp& special, double times);

 private:
  void form(const Head& head, NodeTag operation, std::size_t steps = 0) const;
  void operands(const Map& map) const;
  void lanes(const Head& head, const Access& dst, const std::vector<Source>& sources) const;
  Use use(const Head& head) const;
  Use use_in_tiles(const Head& head) const;
  void head(const Head& head, double times, double factor = 1);
  void expression(const Head& head, const std::vector<Source>& sources, const std::vector<Step>& steps, Work work,
                  const Use& use);
  void accumulation(std::uint8_t function, const std::vector<std::uint32_t>& loops, Work work);
  void function(Fn fn, Work work);
  void source(const Source& source, const std::vector<std::int64_t>& shape, const Use& use);
  void without_slots(const Head& head, std::string_view what);
  void one_slot_each(const Head& head);
  void matmul_operands(const Matmul& matmul) const;
  void special_form(const SpecialOp& special, const SpecialOperation& operation) const;

  ValidateState& state_;
  AccessRules accesses_;
  double elements_ = 0;  ///< computed so far, by all operations
};

}  // namespace nkigrid::nkisim
