#include "runner/nkisim/engine/control.hpp"

#include <algorithm>
#include <utility>

#include "runner/nkisim/engine/machine.hpp"

namespace nkigrid::nkisim {
namespace {

class LoopExec final : public Exec {
 public:
  LoopExec(const Loop& loop, std::uint32_t number, AtomSet atoms, ExecBlock body, std::vector<std::uint32_t> dead)
      : id_(loop.id),
        affine_(!loop.sequential),
        trips_(loop.trips),
        number_(number),
        atoms_(std::move(atoms)),
        body_(std::move(body)),
        dead_(std::move(dead)) {}

  void run(Machine& machine) override {
    const bool moved = affine_ && machine.order.moves(id_);
    for (std::int64_t k = 0; k < trips_; ++k) {
      // Looped accumulations ask whether a trip is the first. That is the first to run, whatever its index: another
      // order must not lose or double the initial value.
      machine.trips[number_] = k;
      atoms_.set(machine.program, machine.atoms, moved ? machine.order.trip(k, trips_) : k);
      run_block(body_, machine);
      for (const std::uint32_t root : dead_) machine.storages[root].release();
    }
  }

 private:
  std::uint32_t id_;
  bool affine_;
  std::int64_t trips_;
  std::uint32_t number_;
  AtomSet atoms_;
  ExecBlock body_;
  std::vector<std::uint32_t> dead_;
};

/// Its conditions have no slots: a space of one point evaluates them as a mask.
class IfExec final : public Exec {
 public:
  IfExec(const If& branch, ExecBlock then_body, ExecBlock else_body, const Lowering& lowering)
      : space_(lowering.program, lowering.ranges, {1}, over_one_point(branch.conditions)),
        then_(std::move(then_body)),
        else_(std::move(else_body)) {
    space_.layout_fixed();
  }

  void run(Machine& machine) override {
    space_.begin(machine.atoms.data(), machine.values);
    Space::Spans spans;
    run_block(space_.spans(machine.values.data(), 0, spans) != 0 ? then_ : else_, machine);
  }

 private:
  static std::vector<Condition> over_one_point(std::vector<Condition> conditions) {
    for (Condition& condition : conditions) condition.value.slots = {0};
    return conditions;
  }

  Space space_;
  ExecBlock then_, else_;
};

class AllocExec final : public Exec {
 public:
  AllocExec(const Alloc& alloc, std::optional<std::vector<Affine>> unseen_while)
      : buffer_(alloc.buffer), fill_(alloc.fill), unseen_while_(std::move(unseen_while)) {}
  void run(Machine& machine) override {
    const bool covered = unseen_while_ && std::all_of(unseen_while_->begin(), unseen_while_->end(),
                                                      [&](const Affine& a) { return value_of(a, machine.atoms) >= 0; });
    machine.storages[buffer_].allocate(fill_, covered);
  }

 private:
  std::uint32_t buffer_;
  std::optional<double> fill_;
  std::optional<std::vector<Affine>> unseen_while_;
};

}  // namespace

void run_block(const ExecBlock& block, Machine& machine) {
  for (const auto& exec : block) {
    machine.line = exec->line;
    exec->run(machine);
  }
}

std::unique_ptr<Exec> make_loop(const Loop& loop, std::uint32_t number, AtomSet atoms, ExecBlock body,
                                std::vector<std::uint32_t> dead) {
  return std::make_unique<LoopExec>(loop, number, std::move(atoms), std::move(body), std::move(dead));
}
std::unique_ptr<Exec> make_branch(const If& branch, ExecBlock then_body, ExecBlock else_body,
                                  const Lowering& lowering) {
  return std::make_unique<IfExec>(branch, std::move(then_body), std::move(else_body), lowering);
}
std::unique_ptr<Exec> make_alloc(const Alloc& alloc, std::optional<std::vector<Affine>> unseen_while) {
  return std::make_unique<AllocExec>(alloc, std::move(unseen_while));
}

}  // namespace nkigrid::nkisim
