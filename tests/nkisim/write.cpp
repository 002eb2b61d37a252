#include "tests/nkisim/write.hpp"

#include <bit>

namespace nkigrid::nkisim {
namespace {

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void program(const Program& p) {
    out_.append("NKIPROG\0", 8);
    u(kProgramVersion);
    str(p.entry);
    str(p.tracer);
    list(p.grid, [&](std::int64_t extent) { u(static_cast<std::uint64_t>(extent)); });
    list(p.atoms, [&](const Atom& a) { atom(a); });
    list(p.buffers, [&](const Buffer& b) { buffer(b); });
    list(p.outputs, [&](std::uint32_t id) { u(id); });
    u8(p.returns_tuple);
    list(p.params, [&](std::uint32_t id) { u(id); });
    block(p.body);
  }

 private:
  void u8(int value) { out_.push_back(static_cast<char>(value)); }
  template <class Enum>
  void tag(Enum value) {
    u8(static_cast<int>(value));
  }
  void u(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<int>(value & 0x7f) | 0x80);
    u8(static_cast<int>(value));
  }
  void i(std::int64_t value) { u((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
  void f64(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int k = 0; k < 8; ++k) u8(static_cast<int>((bits >> (8 * k)) & 0xff));
  }
  void str(std::string_view text) {
    u(text.size());
    out_.append(text);
  }
  template <class T, class F>
  void list(const std::vector<T>& items, F&& one) {
    u(items.size());
    for (const T& item : items) one(item);
  }
  void affine(const Affine& a) {
    i(a.constant);
    list(a.terms, [&](const Term& t) {
      u(t.atom);
      i(t.coefficient);
    });
  }
  void atom(const Atom& a) {
    tag(a.kind);
    if (a.kind == Atom::Kind::loop || a.kind == Atom::Kind::program_id) return u(a.id);
    affine(a.operand);
    u(static_cast<std::uint64_t>(a.divisor));
  }
  void shape(const std::vector<std::int64_t>& extents) {
    list(extents, [&](std::int64_t extent) { u(static_cast<std::uint64_t>(extent)); });
  }
  void buffer(const Buffer& b) {
    tag(b.kind);
    tag(b.dtype);
    str(b.name);
    shape(b.shape);
    u(b.partition_dim);
    u(b.alias_of ? *b.alias_of + 1ULL : 0);
    u(b.line);
    if (b.kind == BufferKind::constant) str(b.data);
  }
  void index(const Index& x) {
    affine(x.base);
    for (const std::int64_t slot : x.slots) i(slot);
  }
  void access(const Access& a) {
    u(a.buffer);
    for (const Index& dim : a.dims) index(dim);
    u(static_cast<std::uint64_t>(a.dynamic_dim + 1));
    if (a.dynamic_dim < 0) return;
    access(*a.dynamic);
    u8(a.skip_out_of_bounds);
  }
  void conditions(const std::vector<Condition>& all) {
    list(all, [&](const Condition& c) {
      tag(c.kind);
      index(c.value);
    });
  }
  void source(const Source& s) {
    tag(s.kind);
    switch (s.kind) {
      case Source::Kind::access:
        return access(s.access);
      case Source::Kind::constant:
        return f64(s.constant);
      case Source::Kind::index:
        return index(s.index);
    }
  }
  void steps(const std::vector<Step>& all) {
    list(all, [&](const Step& s) {
      tag(s.fn);
      for (int k = 0; k < arity(s.fn); ++k) u(s.operands[static_cast<std::size_t>(k)]);
    });
  }
  void head(const Head& h) {
    u(static_cast<std::uint64_t>(h.instr));
    tag(h.engine);
    shape(h.shape);
    conditions(h.mask);
  }
  void what(const Loop& n) {
    u(n.id);
    str(n.name);
    u8(n.sequential);
    i(n.start);
    u(static_cast<std::uint64_t>(n.trips));
    i(n.step);
    block(n.body);
  }
  void what(const If& n) {
    conditions(n.conditions);
    block(n.then_body);
    block(n.else_body);
  }
  void what(const Alloc& n) {
    u(n.buffer);
    u8(n.fill.has_value());
    if (n.fill) f64(*n.fill);
  }
  void what(const Map& n) {
    head(n.head);
    access(n.dst);
    tag(n.work);
    expression(n);
  }
  void what(const Fold& n) {
    head(n.head);
    access(n.dst);
    tag(n.work);
    tag(n.function);
    u8(n.negate);
    expression(n);
  }
  template <class Op>
  void expression(const Op& n) {
    u8(n.accumulate);
    list(n.loops, [&](std::uint32_t id) { u(id); });
    list(n.sources, [&](const Source& s) { source(s); });
    steps(n.steps);
  }
  void what(const Matmul& n) {
    head(n.head);
    access(n.dst);
    access(n.stationary);
    access(n.moving);
    u8(n.accumulate);
  }
  void what(const Scan& n) {
    head(n.head);
    access(n.dst);
    tag(n.op0);
    tag(n.op1);
    source(n.data0);
    source(n.data1);
    source(n.initial);
  }
  void what(const SpecialOp& n) {
    head(n.head);
    tag(n.kind);
    list(n.destinations, [&](const Access& a) { access(a); });
    list(n.sources, [&](const Source& s) { source(s); });
    list(n.attributes, [&](double value) { f64(value); });
  }
  void block(const Block& nodes) {
    list(nodes, [&](const Node& node) {
      u8(static_cast<int>(node.what.index()) + 1);
      u(node.line);
      std::visit([&](const auto& op) { what(op); }, node.what);
    });
  }

  std::string out_;
};

}  // namespace

std::string to_bytes(const Program& program) {
  Writer writer;
  writer.program(program);
  return writer.take();
}

}  // namespace nkigrid::nkisim
