#pragma once

#include <type_traits>
#include <variant>

#include "runner/nkisim/program/program.hpp"

/// Goes over the nodes of a program and the accesses of an operation, so that whoever looks at all of them need not
/// know their kinds. Internal to the room.
namespace nkigrid::nkisim {

/// Calls f(node) for every node of a block and of the blocks in it, in program order: a loop before its body.
template <class F>
void for_each_node(const Block& block, F&& f) {
  for (const Node& node : block) {
    f(node);
    if (const Loop* loop = std::get_if<Loop>(&node.what)) {
      for_each_node(loop->body, f);
    } else if (const If* branch = std::get_if<If>(&node.what)) {
      for_each_node(branch->then_body, f);
      for_each_node(branch->else_body, f);
    }
  }
}

/// Calls f(operation) if a node is one: no loop, branch or alloc.
template <class F>
void on_operation(const Node& node, F&& f) {
  std::visit(
      [&](const auto& what) {
        using What = std::decay_t<decltype(what)>;
        constexpr bool is_structure =
            std::is_same_v<What, Loop> || std::is_same_v<What, If> || std::is_same_v<What, Alloc>;
        if constexpr (!is_structure) f(what);
      },
      node.what);
}

/// Calls f(access, is written) for the accesses of an operation, destinations first. The index tile of a dynamic access
/// comes with it, not by itself.
template <class F>
void for_each_access(const Map& map, F&& f) {
  f(map.dst, true);
  for (const Source& source : map.sources) {
    if (source.kind == Source::Kind::access) f(source.access, false);
  }
}
template <class F>
void for_each_access(const Fold& fold, F&& f) {
  f(fold.dst, true);
  for (const Source& source : fold.sources) {
    if (source.kind == Source::Kind::access) f(source.access, false);
  }
}
template <class F>
void for_each_access(const Matmul& matmul, F&& f) {
  f(matmul.dst, true);
  f(matmul.stationary, false);
  f(matmul.moving, false);
}
template <class F>
void for_each_access(const Scan& scan, F&& f) {
  f(scan.dst, true);
  for (const Source* source : {&scan.data0, &scan.data1, &scan.initial}) {
    if (source->kind == Source::Kind::access) f(source->access, false);
  }
}
template <class F>
void for_each_access(const SpecialOp& special, F&& f) {
  for (const Access& access : special.destinations) f(access, true);
  for (const Source& source : special.sources) {
    if (source.kind == Source::Kind::access) f(source.access, false);
  }
}

/// Calls f(access) with every access of a program's operations, to be changed; index tiles are not among them.
template <class F>
void rewrite_accesses(Program& program, F&& f) {
  for_each_node(program.body, [&](const Node& node) {
    on_operation(node, [&](const auto& op) {
      // The program may be changed, and with it all that is in it; the walk above only does not need to.
      for_each_access(op, [&](const Access& access, bool) { f(const_cast<Access&>(access)); });
    });
  });
}

/// Does an operation add to (or otherwise combine with) what its destination holds?
inline bool accumulates(const Map& map) { return map.accumulate != kNoAccumulate; }
inline bool accumulates(const Fold& fold) { return fold.accumulate != kNoAccumulate; }
inline bool accumulates(const Matmul& matmul) { return matmul.accumulate; }
inline bool accumulates(const Scan&) { return false; }
inline bool accumulates(const SpecialOp&) { return false; }

}  // namespace nkigrid::nkisim
