#pragma once

#include "tests/nkisim/make.hpp"

namespace nkigrid::nkisim::make {

/// One of everything that the format knows; it need not be runnable.
inline Program sample_program() {
  Made m;
  m.program.entry = "kernel";
  m.program.tracer = "test 1";
  m.program.grid = {2, 3};
  m.program.returns_tuple = true;
  m.loop_atom(7);
  m.program.atoms.push_back({Atom::Kind::program_id, 1, {}, 1});
  m.program.atoms.push_back({Atom::Kind::floor_div, 0, aff(5, {{0, 2}}), 3});
  m.program.atoms.push_back({Atom::Kind::mod, 0, aff(0, {{1, -7}}), 4});
  const auto x = m.param({128, 64}), out = m.output({128, 64}, Dtype::bfloat16);
  const auto constant = m.buffer(BufferKind::constant, {4}, Dtype::uint8);
  m.program.buffers[constant].data = std::string("\x01\x02\x03\x04", 4);
  const auto tile = m.tile(BufferKind::sbuf, {2, 128, 64}, Dtype::float32, -1.5);
  m.program.buffers[tile].partition_dim = 1;
  const auto indices = m.buffer(BufferKind::sbuf, {128, 1}, Dtype::int32);
  const auto alias = m.buffer(BufferKind::hbm, {64, 128}, Dtype::float32);
  m.program.buffers[alias].alias_of = x;

  Loop loop{7, true, -3, 2, 5, {}, "k"};
  Access gathered = whole(x, 2);
  gathered.dynamic_dim = 0;
  gathered.dynamic = std::make_shared<Access>(access(indices, {at({1, 0}), at({0, 0})}));
  gathered.skip_out_of_bounds = true;
  Map map_op = map(Instr::activation, {128, 64}, access(tile, {at({0, 0}, aff(0, {{3, 1}})), at({1, 0}), at({0, 1})}),
                   {from(gathered), value(0.5), iota(at({0, 3}, aff(1, {{2, 64}})))},
                   {{Fn::add, {0, 2}}, {Fn::select, {0, 3, 1}}});
  map_op.head.mask.push_back(not_negative(at({-1, 0}, aff(100, {{0, -128}}))));
  map_op.accumulate = static_cast<std::uint8_t>(Fn::add);
  map_op.loops = {7};
  loop.body.push_back({11, map_op});
  Fold fold;
  fold.head = map_op.head;
  fold.dst = access(out, {at({1, 0}), at({0, 0})});
  fold.function = Fn::maximum;
  fold.negate = true;
  fold.sources = {from(whole(x, 2))};
  fold.steps = {{Fn::exp, {0}}};
  If branch;
  branch.conditions.push_back({Condition::Kind::not_zero, at({}, aff(-4, {{0, 1}}))});
  branch.then_body.push_back({12, fold});
  Matmul matmul;
  matmul.head.instr = Instr::matmul;
  matmul.head.shape = {128, 128, 64};
  matmul.dst = matmul.stationary = matmul.moving = access(x, {at({1, 0, 0}), at({0, 1, 0})});
  matmul.accumulate = true;
  branch.else_body.push_back({13, matmul});
  loop.body.push_back({14, branch});
  Scan scan;
  scan.head.shape = {128, 64};
  scan.dst = whole(out, 2);
  scan.data0 = scan.data1 = from(whole(x, 2));
  scan.initial = value(0);
  loop.body.push_back({15, scan});
  SpecialOp special;
  special.head.shape = {128, 64};
  special.kind = Special::match_replace8;
  special.destinations = {whole(out, 2)};
  special.sources = {from(whole(x, 2)), from(whole(x, 2))};
  special.attributes = {-1e30};
  loop.body.push_back({16, special});
  m.program.body.push_back({10, loop});
  return m.program;
}

/// x -> a -> b -> c -> out, all whole tiles, every other copy transposed, a mask on the store: copies that may be left
/// out.
inline Program chain_program() {
  Made m;
  const auto x = m.param({6, 10}), out = m.output({4, 6});
  const auto a = m.tile(BufferKind::sbuf, {4, 6});
  const auto swapped = [](std::uint32_t id) { return access(id, {at({0, 1}), at({1, 0})}); };
  m.program.body.push_back({1, map(Instr::load, {4, 6}, whole(a, 2),
                                   {from(access(x, {at({1, 0}, aff(2)), at({0, 1}, aff(3))}))}, {}, Work::raw)});
  const auto b = m.tile(BufferKind::psum, {6, 4});
  m.program.body.push_back({2, map(Instr::transpose, {6, 4}, whole(b, 2), {from(swapped(a))}, {}, Work::raw)});
  const auto c = m.tile(BufferKind::sbuf, {4, 6});
  m.program.body.push_back({3, map(Instr::transpose, {4, 6}, whole(c, 2), {from(swapped(b))}, {}, Work::raw)});
  Map store = map(Instr::store, {6, 4}, access(out, {at({0, 1}), at({1, 0})}), {from(swapped(c))}, {}, Work::raw);
  store.head.mask.push_back(not_negative(at({1, 1}, aff(-1))));  // all but [0, 0]
  m.program.body.push_back({4, store});
  return m.program;
}

}  // namespace nkigrid::nkisim::make
