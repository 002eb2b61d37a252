#include "runner/nkisim/engine/space.hpp"

#include <algorithm>
#include <span>

namespace nkigrid::nkisim {
namespace {

std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void add_scaled(Form& form, const Index& index, std::int64_t scale) {
  form.constant = wrap_add(form.constant, wrap_mul(index.base.constant, scale));
  for (const Term& term : index.base.terms) {
    const auto same =
        std::find_if(form.terms.begin(), form.terms.end(), [&](const Term& t) { return t.atom == term.atom; });
    if (same == form.terms.end()) {
      form.terms.push_back({term.atom, wrap_mul(term.coefficient, scale)});
    } else {
      same->coefficient = wrap_add(same->coefficient, wrap_mul(term.coefficient, scale));
    }
  }
  for (std::size_t k = 0; k < index.slots.size(); ++k)
    form.steps[k] = wrap_add(form.steps[k], wrap_mul(index.slots[k], scale));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {  // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

/// What points cut out of an interval leave of it, in order; the points come in any order, and twice. @returns how many
int without_holes(Span span, std::span<std::int64_t> holes, Space::Spans& out) {
  std::sort(holes.begin(), holes.end());
  int count = 0;
  for (const std::int64_t hole : holes) {
    if (hole < span.lo || hole >= span.hi) continue;
    if (hole > span.lo) out[static_cast<std::size_t>(count++)] = {span.lo, hole};
    span.lo = hole + 1;
  }
  if (span.lo < span.hi) out[static_cast<std::size_t>(count++)] = span;
  return count;
}

}  // namespace

Space::Space(const Program& program, const Ranges& ranges, const std::vector<std::int64_t>& shape,
             const std::vector<Condition>& mask)
    : program_(program), ranges_(ranges), shape_(shape), extents_(shape), no_inner_(shape.size(), false) {
  for (const Condition& condition : mask) mask_.push_back({condition.kind, add(condition.value)});
}

std::uint32_t Space::add(const Index& index, std::int64_t scale) {
  Form form;
  form.steps.assign(shape_.size(), 0);
  add_scaled(form, index, scale);
  forms_.push_back(std::move(form));
  return static_cast<std::uint32_t>(forms_.size() - 1);
}

View Space::add(const Access& access) {
  const Buffer& buffer = program_.buffers[access.buffer];
  View view;
  view.buffer = access.buffer;
  view.root = root_of(program_, access.buffer);
  view.dtype = buffer.dtype;
  view.item = static_cast<std::int64_t>(size_of(buffer.dtype));
  view.skip = access.skip_out_of_bounds;
  // Row-major from the last dimension: the dimensions from the partitions on sum up to a byte offset in a tile, the
  // block dimensions before them to the number of the tile.
  Form offset, block;
  offset.steps.assign(shape_.size(), 0);
  block.steps.assign(shape_.size(), 0);
  const std::size_t blocks = is_on_chip(buffer.kind) ? buffer.partition_dim : 0;
  std::int64_t stride = view.item, block_stride = 1;
  for (std::size_t dim = buffer.shape.size(); dim-- > 0;) {
    const bool is_block = dim < blocks;
    const std::int64_t scale = is_block ? block_stride : stride;
    const Index& index = access.dims[dim];
    add_scaled(is_block ? block : offset, index, scale);
    if (access.dynamic_dim == static_cast<std::int32_t>(dim)) {
      view.dynamic = {add(index), buffer.shape[dim], static_cast<std::uint32_t>(dim)};
      view.dynamic_stride = scale;
      view.dynamic_block = is_block;
    } else if (const Range range = ranges_.of(index, shape_); range.lo < 0 || range.hi >= buffer.shape[dim]) {
      view.checks.push_back({add(index), buffer.shape[dim], static_cast<std::uint32_t>(dim)});
    }
    (is_block ? block_stride : stride) *= buffer.shape[dim];
  }
  forms_.push_back(std::move(offset));
  view.offset = static_cast<std::uint32_t>(forms_.size() - 1);
  if (blocks > 0) {
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      if (block.steps[axis] != 0) forbid_inner(axis);  // a row lies in one tile
    }
    forms_.push_back(std::move(block));
    view.block = static_cast<std::int32_t>(forms_.size() - 1);
  }
  if (access.dynamic) add_index_tile(*access.dynamic, view);
  return view;
}

/// One look at the index tile serves a row, and decides whether all of it is skipped: axes along which either could
/// differ from point to point are no rows.
void Space::add_index_tile(const Access& tile, View& view) {
  view.tile = std::make_unique<View>(add(tile));
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    const bool varies = moves(view.tile->offset, axis) ||
                        (view.tile->block >= 0 && moves(static_cast<std::uint32_t>(view.tile->block), axis));
    if (varies || (view.skip && moves(view.dynamic.form, axis))) forbid_inner(axis);
  }
}

bool Space::moves(std::uint32_t form) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const std::vector<std::int64_t>& steps) { return steps[form] != 0; });
}

/// Two axes are one when every form, mask included, goes on from the end of the inner run as if it were longer: then
/// form(o, i) depends on o * extent + i alone.
bool Space::joins(std::size_t outer, std::size_t inner) const {
  if (no_inner_[outer] || no_inner_[inner]) return false;  // what forbids the one would forbid the joined axis
  return std::all_of(forms_.begin(), forms_.end(), [&](const Form& form) {
    return form.steps[outer] == wrap_mul(form.steps[inner], extents_[inner]);
  });
}

void Space::join(std::size_t outer, std::size_t inner) {
  extents_[outer] *= extents_[inner];
  extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(inner));
  no_inner_.erase(no_inner_.begin() + static_cast<std::ptrdiff_t>(inner));
  for (Form& form : forms_) {
    form.steps[outer] = form.steps[inner];
    form.steps.erase(form.steps.begin() + static_cast<std::ptrdiff_t>(inner));
  }
}

void Space::reorder(const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> extents;
  std::vector<bool> forbidden;
  for (const std::size_t axis : order) {
    extents.push_back(extents_[axis]);
    forbidden.push_back(no_inner_[axis]);
  }
  extents_ = std::move(extents);
  no_inner_ = std::move(forbidden);
  for (Form& form : forms_) {
    std::vector<std::int64_t> steps;
    for (const std::size_t axis : order) steps.push_back(form.steps[axis]);
    form.steps = std::move(steps);
  }
}

std::size_t Space::layout(const std::vector<bool>& folded, bool row_is_kept) {
  std::size_t kept = join_runs(group(folded));
  const std::size_t first = row_is_kept ? 0 : kept, last = row_is_kept ? kept : extents_.size();
  const std::size_t row = choose_row(first, last);
  if (row == last) {
    extents_.push_back(1);
    no_inner_.push_back(false);
    for (Form& form : forms_) form.steps.push_back(0);
  } else {
    if (row_is_kept) --kept;
    std::vector<std::size_t> order;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      if (axis != row) order.push_back(axis);
    }
    order.push_back(row);
    reorder(order);
  }
  layout_fixed();
  return kept;
}

/// Kept axes before folded ones, each class in its order; an axis of one point moves nothing and goes.
std::size_t Space::group(const std::vector<bool>& folded) {
  std::vector<std::size_t> order;
  std::size_t kept = 0;
  for (const bool want : {false, true}) {
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      if (folded[axis] == want && extents_[axis] != 1) order.push_back(axis);
    }
    if (!want) kept = order.size();
  }
  reorder(order);
  return kept;
}

/// Joins neighbours, from the inside out, so that a run of several axes becomes one; never across the border of kept
/// and folded axes.
std::size_t Space::join_runs(std::size_t kept) {
  for (std::size_t inner = extents_.size(); inner-- > 1;) {
    if (inner == kept || !joins(inner - 1, inner)) continue;
    if (inner < kept) --kept;
    join(inner - 1, inner);
  }
  return kept;
}

/// The last axis of [first, last) that may be a row, or a longer one before it if that is short (a row costs as much to
/// begin as some sixteen values). `last` when none may.
std::size_t Space::choose_row(std::size_t first, std::size_t last) const {
  std::size_t row = last;
  for (std::size_t axis = first; axis < last; ++axis) {
    if (no_inner_[axis]) continue;
    if (row == last || extents_[axis] >= extents_[row] || extents_[axis] >= 16) row = axis;
  }
  return row;
}

void Space::layout_fixed() {
  steps_.assign(extents_.size(), std::vector<std::int64_t>(forms_.size()));
  for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
    for (std::size_t f = 0; f < forms_.size(); ++f) steps_[axis][f] = forms_[f].steps[axis];
  }
}

void Space::begin(const std::int64_t* atoms, std::vector<std::int64_t>& values) const {
  values.resize(forms_.size());
  for (std::size_t f = 0; f < forms_.size(); ++f) {
    std::int64_t value = forms_[f].constant;
    for (const Term& term : forms_[f].terms) value = wrap_add(value, wrap_mul(term.coefficient, atoms[term.atom]));
    values[f] = value;
  }
}

int Space::spans(const std::int64_t* values, std::size_t axis, Spans& out) const {
  return spans(values, axis, false, out);
}
int Space::own_spans(const std::int64_t* values, std::size_t axis, Spans& out) const {
  return spans(values, axis, true, out);
}

/// Along the row each condition is v + s j, so each leaves a half line (>= 0), a point (== 0) or all but a point (!=
/// 0), or, with s = 0, all or nothing. Their conjunction is an interval with holes.
int Space::spans(const std::int64_t* values, std::size_t axis, bool own, Spans& out) const {
  std::int64_t lo = 0, hi = extents_[axis];
  std::array<std::int64_t, kMaxConditions> holes;
  std::size_t hole_count = 0;
  for (const MaskTerm& term : mask_) {
    const std::int64_t v = values[term.form], s = steps_[axis][term.form];
    if (s == 0) {
      if (own && moves(term.form)) continue;  // another axis answers for it
      const bool holds =
          term.kind == Condition::Kind::not_negative ? v >= 0 : (v == 0) == (term.kind == Condition::Kind::zero);
      if (!holds) return 0;
    } else if (term.kind == Condition::Kind::not_negative) {
      if (s > 0) lo = std::max(lo, -floor_div(v, s));      // j >= ceil(-v / s)
      if (s < 0) hi = std::min(hi, floor_div(v, -s) + 1);  // j <= floor(v / -s)
    } else {
      const bool whole = v % s == 0;
      const std::int64_t j = -(v / s);
      if (term.kind == Condition::Kind::zero) {
        if (!whole) return 0;
        lo = std::max(lo, j);
        hi = std::min(hi, j + 1);
      } else if (whole) {
        holes[hole_count++] = j;
      }
    }
  }
  return lo < hi ? without_holes({lo, hi}, std::span(holes.data(), hole_count), out) : 0;
}

}  // namespace nkigrid::nkisim
