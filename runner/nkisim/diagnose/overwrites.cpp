#include "runner/nkisim/diagnose/overwrites.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"
#include "runner/nkisim/program/words.hpp"

namespace nkigrid::nkisim {
namespace {

/// Atoms whose value changes with a loop's trips.
std::vector<bool> atoms_of(const Program& program, std::uint32_t loop) {
  std::vector<bool> result(program.atoms.size(), false);
  for (std::size_t a = 0; a < program.atoms.size(); ++a) {
    const Atom& atom = program.atoms[a];
    if (atom.kind == Atom::Kind::loop) {
      result[a] = atom.id == loop;
    } else if (atom.kind != Atom::Kind::program_id) {
      result[a] = std::any_of(atom.operand.terms.begin(), atom.operand.terms.end(),
                              [&](const Term& t) { return result[t.atom]; });
    }
  }
  return result;
}

/// One loop's body: what it makes, reads, and writes to the same place in every trip.
class LoopBody {
 public:
  LoopBody(const Program& program, const Loop& loop) : program_(program), moving_(atoms_of(program, loop.id)) {
    block(loop.body, false);
  }

  struct Write {
    std::uint32_t buffer = 0, line = 0;
  };
  /// Writes to memory made outside that the body neither reads nor accumulates into.
  std::vector<Write> overwritten() const {
    std::vector<Write> result;
    for (const Write& write : writes_) {
      const std::uint32_t root = root_of(program_, write.buffer);
      if (!made_.contains(root) && !read_.contains(root) && !spread_.contains(root)) result.push_back(write);
    }
    return result;
  }
  /// A PSUM tile that matmuls accumulate into and that each trip makes anew.
  std::optional<std::uint32_t> fresh_accumulator() const {
    for (const std::uint32_t root : accumulated_) {
      if (made_.contains(root)) return root;
    }
    return std::nullopt;
  }

 private:
  bool moves(const Index& index) const {
    return std::any_of(index.base.terms.begin(), index.base.terms.end(),
                       [&](const Term& t) { return moving_[t.atom] && t.coefficient != 0; });
  }
  bool moves(const std::vector<Condition>& conditions) const {
    return std::any_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return moves(c.value); });
  }
  void block(const Block& nodes, bool chosen) {
    for (const Node& node : nodes) std::visit([&](const auto& what) { look(what, node.line, chosen); }, node.what);
  }
  void look(const Loop& loop, std::uint32_t, bool chosen) { block(loop.body, chosen); }
  /// A branch on the loop's variable chooses the trip that writes.
  void look(const If& branch, std::uint32_t, bool chosen) {
    block(branch.then_body, chosen || moves(branch.conditions));
    block(branch.else_body, chosen || moves(branch.conditions));
  }
  void look(const Alloc& alloc, std::uint32_t, bool) { made_.insert(alloc.buffer); }
  template <class Op>
  void look(const Op& op, std::uint32_t line, bool chosen) {
    if constexpr (std::is_same_v<Op, Matmul>) {
      if (op.accumulate) accumulated_.insert(root_of(program_, op.dst.buffer));
    }
    const bool excused = chosen || accumulates(op) || moves(op.head.mask);
    for_each_access(op,
                    [&](const Access& access, bool written) { written ? write(access, line, excused) : read(access); });
  }
  void read(const Access& access) {
    read_.insert(root_of(program_, access.buffer));
    if (access.dynamic) read(*access.dynamic);
  }
  void write(const Access& access, std::uint32_t line, bool excused) {
    if (access.dynamic) read(*access.dynamic);
    const bool elsewhere =
        excused || access.dynamic ||
        std::any_of(access.dims.begin(), access.dims.end(), [&](const Index& i) { return moves(i); });
    if (elsewhere) {
      spread_.insert(root_of(program_, access.buffer));
    } else {
      writes_.push_back({access.buffer, line});
    }
  }

  const Program& program_;
  std::vector<bool> moving_;
  std::set<std::uint32_t> made_, read_, accumulated_, spread_;
  std::vector<Write> writes_;
};

void look_into(const Program& program, const Block& block, std::set<std::uint32_t>& told,
               std::vector<std::string>& out) {
  for (const Node& node : block) {
    if (const If* branch = std::get_if<If>(&node.what)) {
      look_into(program, branch->then_body, told, out);
      look_into(program, branch->else_body, told, out);
    }
    const Loop* loop = std::get_if<Loop>(&node.what);
    if (loop == nullptr) continue;
    look_into(program, loop->body, told, out);  // the innermost loop that repeats a store is the one to name
    if (loop->trips < 2) continue;
    const LoopBody body(program, *loop);
    for (const auto& write : body.overwritten()) {
      if (!told.insert(root_of(program, write.buffer)).second) continue;
      std::string text =
          fmt::format("{} is overwritten at line {} in every trip of the loop at line {}{}, only the last trip stays",
                      variable_name(program, write.buffer), write.line, node.line,
                      loop->name.empty() ? std::string() : fmt::format(" (variable `{}`)", loop->name));
      if (const auto tile = body.fresh_accumulator()) {
        text += fmt::format(
            "; the PSUM tile `{}` (line {}) is made anew in each trip, so nothing accumulates: create it before that "
            "loop",
            program.buffers[*tile].name, program.buffers[*tile].line);
      }
      out.push_back(std::move(text));
    }
  }
}

}  // namespace

std::vector<std::string> overwritten_in_loops(const Program& program) {
  std::vector<std::string> result;
  std::set<std::uint32_t> told;
  look_into(program, program.body, told, result);
  return result;
}

}  // namespace nkigrid::nkisim
