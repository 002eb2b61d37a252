#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/program/program.hpp"
#include "runner/nkisim/program/validate.hpp"

/// Short ways to write programs and to run them, for tests only.
namespace nkigrid::nkisim::make {

inline Affine aff(std::int64_t constant, std::vector<Term> terms = {}) { return {constant, std::move(terms)}; }
inline Index at(std::vector<std::int64_t> slots, Affine base = {}) { return {std::move(base), std::move(slots)}; }
inline Access access(std::uint32_t buffer, std::vector<Index> dims) {
  Access result;
  result.buffer = buffer;
  result.dims = std::move(dims);
  return result;
}
/// Dimension k of the buffer is axis k of the space.
inline Access whole(std::uint32_t buffer, std::size_t rank) {
  Access result;
  result.buffer = buffer;
  for (std::size_t k = 0; k < rank; ++k) {
    result.dims.push_back(at(std::vector<std::int64_t>(rank, 0)));
    result.dims.back().slots[k] = 1;
  }
  return result;
}
inline Source from(Access a) {
  Source s;
  s.access = std::move(a);
  return s;
}
inline Source value(double v) {
  Source s;
  s.kind = Source::Kind::constant;
  s.constant = v;
  return s;
}
inline Source iota(Index index) {
  Source s;
  s.kind = Source::Kind::index;
  s.index = std::move(index);
  return s;
}
inline Condition not_negative(Index index) { return {Condition::Kind::not_negative, std::move(index)}; }

struct Made {
  Program program;

  std::uint32_t buffer(BufferKind kind, std::vector<std::int64_t> shape, Dtype dtype = Dtype::float32) {
    Buffer b;
    b.kind = kind;
    b.dtype = dtype;
    b.name = "b" + std::to_string(program.buffers.size());
    b.shape = std::move(shape);
    b.line = 1;
    program.buffers.push_back(std::move(b));
    const auto id = static_cast<std::uint32_t>(program.buffers.size() - 1);
    if (kind == BufferKind::param) program.params.push_back(id);
    if (kind == BufferKind::output) program.outputs.push_back(id);
    return id;
  }
  std::uint32_t param(std::vector<std::int64_t> shape, Dtype dtype = Dtype::float32) {
    return buffer(BufferKind::param, std::move(shape), dtype);
  }
  std::uint32_t output(std::vector<std::int64_t> shape, Dtype dtype = Dtype::float32) {
    return buffer(BufferKind::output, std::move(shape), dtype);
  }
  /// A tile with its alloc in `block` (the program's body by default).
  std::uint32_t tile(BufferKind kind, std::vector<std::int64_t> shape, Dtype dtype = Dtype::float32,
                     std::optional<double> fill = {}, Block* block = nullptr) {
    const std::uint32_t id = buffer(kind, std::move(shape), dtype);
    Block& into = block == nullptr ? program.body : *block;
    into.push_back({1, Alloc{id, fill}});
    return id;
  }
  std::uint32_t loop_atom(std::uint32_t loop) {
    program.atoms.push_back({Atom::Kind::loop, loop, {}, 1});
    return static_cast<std::uint32_t>(program.atoms.size() - 1);
  }
};

/// The instruction of a special's name.
inline Instr instr_of(Special kind) {
  for (int number = 0; number < kInstrs; ++number) {
    if (to_string(static_cast<Instr>(number)) == to_string(kind)) return static_cast<Instr>(number);
  }
  return Instr::part_of_former;
}

inline Map map(Instr instr, std::vector<std::int64_t> shape, Access dst, std::vector<Source> sources,
               std::vector<Step> steps = {}, Work work = Work::float32) {
  Map result;
  result.head.instr = instr;
  result.head.engine = unit_of(instr) == Unit::dma ? Engine::dma : Engine::vector;
  result.head.shape = std::move(shape);
  result.dst = std::move(dst);
  result.work = work;
  result.sources = std::move(sources);
  result.steps = std::move(steps);
  return result;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& data) {
  return std::as_bytes(std::span<const T>(data));
}

/// Runs with float inputs and one output of `T`. The program is validated first.
template <class T = float, class In = float>
std::vector<T> run(const Program& program, std::vector<std::vector<In>> inputs, RunReport* report = nullptr,
                   Poison poison = {}) {
  validate(program);
  std::vector<std::span<const std::byte>> in;
  for (const auto& input : inputs) in.push_back(bytes_of(input));
  std::size_t count = 1;
  for (const std::int64_t extent : program.buffers[program.outputs.at(0)].shape)
    count *= static_cast<std::size_t>(extent);
  std::vector<T> output(count);
  const std::span<std::byte> out = std::as_writable_bytes(std::span<T>(output));
  RunReport got = run_program(program, in, std::span(&out, 1), poison);
  if (report != nullptr) *report = std::move(got);
  return output;
}

/// out[i, j] = x[i, j] + y[i, j] by 128-row tiles: a loop, loads, an add, a store.
inline Program add_program(std::int64_t tiles, std::int64_t columns) {
  Made m;
  const auto x = m.param({tiles * 128, columns}), y = m.param({tiles * 128, columns}),
             out = m.output({tiles * 128, columns});
  const std::uint32_t i = m.loop_atom(0);
  Loop loop;
  loop.trips = tiles;
  const auto a = m.tile(BufferKind::sbuf, {128, columns}, Dtype::float32, {}, &loop.body);
  const auto b = m.tile(BufferKind::sbuf, {128, columns}, Dtype::float32, {}, &loop.body);
  const auto c = m.tile(BufferKind::sbuf, {128, columns}, Dtype::float32, {}, &loop.body);
  const auto rows = [&](std::uint32_t id) { return access(id, {at({1, 0}, aff(0, {{i, 128}})), at({0, 1})}); };
  const std::vector<std::int64_t> shape{128, columns};
  loop.body.push_back({2, map(Instr::load, shape, whole(a, 2), {from(rows(x))}, {}, Work::raw)});
  loop.body.push_back({3, map(Instr::load, shape, whole(b, 2), {from(rows(y))}, {}, Work::raw)});
  loop.body.push_back(
      {4, map(Instr::tensor_tensor, shape, whole(c, 2), {from(whole(a, 2)), from(whole(b, 2))}, {{Fn::add, {0, 1}}})});
  loop.body.push_back({5, map(Instr::store, shape, rows(out), {from(whole(c, 2))}, {}, Work::raw)});
  m.program.entry = "add";
  m.program.tracer = "test";
  m.program.body.push_back({1, std::move(loop)});
  return m.program;
}

}  // namespace nkigrid::nkisim::make
