#include "runner/nkisim/estimate/remove_duplicates.hpp"

#include <algorithm>
#include <map>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr std::size_t kDuplicateReach = 8;  ///< nodes from a loop back to what it repeats

/// Which tensor and which loop of the second part stand for which of the first.
struct Pairing {
  std::map<std::uint32_t, std::uint32_t> buffers, loops;  ///< of the second -> of the first
  bool computes = false;                                  ///< does more than load
};

/// Are two nodes the same work? Pairs the tensors that they make, in the order in which they make them.
class Comparer {
 public:
  Comparer(const Program& program, const std::vector<std::size_t>& writers) : program_(program), writers_(writers) {}

  bool same(const Node& one, const Node& other) {
    if (one.what.index() != other.what.index()) return false;
    return std::visit(
        [&](const auto& what) {
          using What = std::decay_t<decltype(what)>;
          return same(what, std::get<What>(other.what));
        },
        one.what);
  }
  const Pairing& pairing() const { return pairing_; }

 private:
  bool same(const Loop& one, const Loop& other) {
    if (one.trips != other.trips || one.start != other.start || one.step != other.step) return false;
    pairing_.loops[other.id] = one.id;
    return std::equal(one.body.begin(), one.body.end(), other.body.begin(), other.body.end(),
                      [&](const Node& a, const Node& b) { return same(a, b); });
  }
  bool same(const Map& one, const Map& other) {
    if (!same_head(one.head, other.head) || one.work != other.work || accumulates(one) || accumulates(other))
      return false;
    pairing_.computes = pairing_.computes || one.head.instr != Instr::load;
    const auto same_step = [](const Step& a, const Step& b) { return a.fn == b.fn && a.operands == b.operands; };
    return std::equal(one.steps.begin(), one.steps.end(), other.steps.begin(), other.steps.end(), same_step) &&
           std::equal(one.sources.begin(), one.sources.end(), other.sources.begin(), other.sources.end(),
                      [&](const Source& a, const Source& b) { return same_source(a, b); }) &&
           same_result(one.dst, other.dst);
  }
  bool same(const Matmul& one, const Matmul& other) {
    pairing_.computes = true;
    return same_head(one.head, other.head) && !one.accumulate && !other.accumulate &&
           same_operand(one.stationary, other.stationary) && same_operand(one.moving, other.moving) &&
           same_result(one.dst, other.dst);
  }
  /// The rest does not stand in what is loaded and laid out anew, which is what kernels do twice.
  template <class What>
  bool same(const What&, const What&) {
    return false;
  }

  static bool same_head(const Head& one, const Head& other) {
    return one.instr == other.instr && one.engine == other.engine && one.shape == other.shape && one.mask.empty() &&
           other.mask.empty();
  }
  bool same_source(const Source& one, const Source& other) const {
    if (one.kind != other.kind || one.kind == Source::Kind::index) return false;
    return one.kind == Source::Kind::access ? same_operand(one.access, other.access) : one.constant == other.constant;
  }
  /// What the two nodes made themselves, or a tensor that one operation writes or none.
  bool same_operand(const Access& one, const Access& other) const {
    const auto made = pairing_.buffers.find(other.buffer);
    const bool equal = made != pairing_.buffers.end()
                           ? made->second == one.buffer
                           : one.buffer == other.buffer && writers_[root_of(program_, one.buffer)] <= 1;
    return equal && same_place(one, other);
  }
  bool same_result(const Access& one, const Access& other) {
    const Buffer &a = program_.buffers[one.buffer], &b = program_.buffers[other.buffer];
    const bool alike = is_on_chip(a.kind) && a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape &&
                       a.partition_dim == b.partition_dim && !a.alias_of && !b.alias_of;
    if (!alike || writers_[one.buffer] != 1 || writers_[other.buffer] != 1) return false;
    pairing_.buffers[other.buffer] = one.buffer;
    return same_place(one, other);
  }
  bool same_place(const Access& one, const Access& other) const {
    return !one.dynamic && !other.dynamic &&
           std::equal(one.dims.begin(), one.dims.end(), other.dims.begin(), other.dims.end(),
                      [&](const Index& a, const Index& b) { return a.slots == b.slots && same_base(a.base, b.base); });
  }
  bool same_base(const Affine& one, const Affine& other) const {
    return one.constant == other.constant &&
           std::equal(one.terms.begin(), one.terms.end(), other.terms.begin(), other.terms.end(),
                      [&](const Term& a, const Term& b) { return a.coefficient == b.coefficient && same_atom(a, b); });
  }
  bool same_atom(const Term& one, const Term& other) const {
    const Atom &a = program_.atoms[one.atom], &b = program_.atoms[other.atom];
    if (a.kind != Atom::Kind::loop || b.kind != Atom::Kind::loop) return false;
    const auto paired = pairing_.loops.find(b.id);
    return a.id == (paired == pairing_.loops.end() ? b.id : paired->second);
  }

  const Program& program_;
  const std::vector<std::size_t>& writers_;
  Pairing pairing_;
};

class Remover {
 public:
  explicit Remover(Program& program) : program_(program), writers_(program.buffers.size()) {
    for_each_node(program.body, [&](const Node& node) {
      on_operation(node, [&](const auto& op) {
        for_each_access(op, [&](const Access& access, bool written) {
          writers_[root_of(program_, access.buffer)] += written ? 1 : 0;
        });
      });
    });
  }

  void block(Block& nodes) {
    Block done;
    for (Node& node : nodes) {
      if (Loop* loop = std::get_if<Loop>(&node.what)) {
        if (is_made(done, node)) continue;
        block(loop->body);
      }
      done.push_back(std::move(node));
    }
    nodes = std::move(done);
  }
  void finish() {
    if (removed_.buffers.empty()) return;
    rewrite_accesses(program_, [&](Access& access) {
      const auto found = removed_.buffers.find(access.buffer);
      if (found != removed_.buffers.end()) access.buffer = found->second;
    });
    for (Atom& atom : program_.atoms) {
      const auto found = removed_.loops.find(atom.id);
      if (atom.kind == Atom::Kind::loop && found != removed_.loops.end()) atom.id = found->second;
    }
  }

 private:
  /// By one of the last nodes?
  bool is_made(const Block& done, const Node& node) {
    for (std::size_t back = 1; back <= std::min(kDuplicateReach, done.size()); ++back) {
      Comparer comparer(program_, writers_);
      if (!comparer.same(done[done.size() - back], node) || !comparer.pairing().computes) continue;
      removed_.buffers.insert(comparer.pairing().buffers.begin(), comparer.pairing().buffers.end());
      removed_.loops.insert(comparer.pairing().loops.begin(), comparer.pairing().loops.end());
      return true;
    }
    return false;
  }

  Program& program_;
  std::vector<std::size_t> writers_;  ///< operations that write it, by root buffer
  Pairing removed_;
};

}  // namespace

void remove_duplicates(Program& program) {
  Remover remover(program);
  remover.block(program.body);
  remover.finish();
}

}  // namespace nkigrid::nkisim
