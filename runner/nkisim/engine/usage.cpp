#include "runner/nkisim/engine/usage.hpp"

#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

class UsageSurvey {
 public:
  UsageSurvey(const Program& program, const Ranges& ranges)
      : program_(program), ranges_(ranges), usage_(program.buffers.size()) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.alias_of) usage_[root_of(program, *buffer.alias_of)].other = true;
    }
    block(program.body);
  }
  std::vector<Usage> take() { return std::move(usage_); }

 private:
  void block(const Block& nodes) {
    for (const Node& node : nodes) {
      at_ = &node;
      if (const Alloc* alloc = std::get_if<Alloc>(&node.what)) usage_[alloc->buffer].home = &nodes;
      std::visit([&](const auto& what) { look(what); }, node.what);
    }
  }
  void look(const Loop& loop) { block(loop.body); }
  void look(const If& branch) {
    block(branch.then_body);
    block(branch.else_body);
  }
  void look(const Alloc&) {}
  void look(const Map& map) { redirectable(map); }
  void look(const Fold& fold) { redirectable(fold); }
  void look(const Matmul& matmul) {
    redirectable(matmul);
    used(matmul.dst).other = true;  // its first write overwrites, later ones add
  }
  template <class Op>
  void look(const Op& op) {
    for_each_access(op, [&](const Access& access, bool) { keep(access); });
  }
  /// Of an operation whose sources may be any strided view.
  template <class Op>
  void redirectable(const Op& op) {
    for_each_access(op, [&](const Access& access, bool written) {
      Usage& usage = used(access);
      ++(written ? usage.writers : usage.plain_readers);
      if (!written && (access.dynamic || !is_proven(program_, ranges_, access, op.head.shape))) usage.other = true;
      if (access.dynamic) keep(*access.dynamic);
    });
  }
  void keep(const Access& access) {
    used(access).other = true;
    if (access.dynamic) keep(*access.dynamic);
  }
  Usage& used(const Access& access) {
    Usage& usage = usage_[root_of(program_, access.buffer)];
    if (usage.first == nullptr) usage.first = at_;
    return usage;
  }

  const Program& program_;
  const Ranges& ranges_;
  std::vector<Usage> usage_;
  const Node* at_ = nullptr;
};

}  // namespace

std::vector<Usage> usage_of(const Program& program, const Ranges& ranges) {
  return UsageSurvey(program, ranges).take();
}

bool is_proven(const Program& program, const Ranges& ranges, const Access& access,
               const std::vector<std::int64_t>& shape) {
  const Buffer& buffer = program.buffers[access.buffer];
  for (std::size_t dim = 0; dim < access.dims.size(); ++dim) {
    const Range range = ranges.of(access.dims[dim], shape);
    if (range.lo < 0 || range.hi >= buffer.shape[dim]) return false;
  }
  return true;
}

}  // namespace nkigrid::nkisim
