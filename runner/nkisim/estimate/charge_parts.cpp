#include "runner/nkisim/estimate/charge_parts.hpp"

#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr int kMostParts = 2;  // nisa.activation with accumulators: its sums are copied out, its values are written

double points_of(const Head& head) {
  double points = 1;
  for (const std::int64_t extent : head.shape) points *= static_cast<double>(extent);
  return points;
}

/// What is left of the instruction that parts belong to.
struct Former {
  double points = 0;
  int parts = 0;

  bool pays(const Head& part) const { return parts > 0 && points_of(part) <= points; }
};

bool computes(const Head& head) {
  const Unit unit = unit_of(head.instr);
  return unit != Unit::dma && unit != Unit::none;
}

void charge(Block& block) {
  Former former;
  for (Node& node : block) {
    if (std::holds_alternative<Alloc>(node.what)) continue;
    Head* head = nullptr;
    if (Loop* loop = std::get_if<Loop>(&node.what)) {
      charge(loop->body);
    } else if (If* branch = std::get_if<If>(&node.what)) {
      charge(branch->then_body);
      charge(branch->else_body);
    } else if (Map* map = std::get_if<Map>(&node.what)) {
      head = &map->head;
    } else if (Fold* fold = std::get_if<Fold>(&node.what)) {
      head = &fold->head;
    }
    if (head != nullptr && head->instr == Instr::part_of_former && former.pays(*head)) {
      --former.parts;
      continue;
    }
    if (head != nullptr && head->instr == Instr::part_of_former) head->instr = Instr::tensor_copy;
    former = head != nullptr && computes(*head) ? Former{points_of(*head), kMostParts} : Former{};
  }
}

}  // namespace

void charge_parts(Program& program) { charge(program.body); }

}  // namespace nkigrid::nkisim
