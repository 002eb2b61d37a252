// Included inside an unnamed namespace, once an instruction set. How a function goes over rows.

template <class T, class F>
inline void unary(const Operand<T>& a, std::size_t n, T* out, F f) {
  const T* x = a.data;
  if (a.scalar) {
    const T value = f(*x);
    for (std::size_t j = 0; j < n; ++j) out[j] = value;
    return;
  }
  // In-place is fine: element j depends on element j alone.
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j]);
}

template <class T, class F>
inline void binary(const Operand<T>* o, std::size_t n, T* out, F f) {
  const T *x = o[0].data, *y = o[1].data;
  if (o[0].scalar && o[1].scalar) {
    const T value = f(*x, *y);
    for (std::size_t j = 0; j < n; ++j) out[j] = value;
  } else if (o[1].scalar) {
    const T b = *y;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j], b);
  } else if (o[0].scalar) {
    const T a = *x;
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(a, y[j]);
  } else {
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) out[j] = f(x[j], y[j]);
  }
}

/// As unary(), where f holds for all of a usual row: `covers` says for which values. The others get `rare`; an
/// element's bits do not depend on its neighbours, since f gives the same whichever loop it stands in.
template <class T, class Covers, class F, class Rare>
inline void unary_within(const Operand<T>& a, std::size_t n, T* out, Covers covers, F f, Rare rare) {
  unsigned outside = 0;
  for (std::size_t j = 0; j < (a.scalar ? 1 : n); ++j) outside |= covers(a.data[j]) ? 0U : 1U;
  if (outside == 0) return unary(a, n, out, f);
  unary(a, n, out, [&](T x) { return covers(x) ? f(x) : rare(x); });
}
template <class T, class Covers, class F, class Rare>
inline void binary_within(const Operand<T>* o, std::size_t n, T* out, Covers covers, F f, Rare rare) {
  const std::size_t sa = o[0].scalar ? 0 : 1, sb = o[1].scalar ? 0 : 1;
  unsigned outside = 0;
  for (std::size_t j = 0; j < n; ++j) outside |= covers(o[0].data[j * sa], o[1].data[j * sb]) ? 0U : 1U;
  if (outside == 0) return binary(o, n, out, f);
  binary(o, n, out, [&](T x, T y) { return covers(x, y) ? f(x, y) : rare(x, y); });
}

template <class T>
inline void select_row(const Operand<T>* o, std::size_t n, T* out) {
  T spread[3][kChunk];
  const T* row[3];
  for (std::size_t k = 0; k < 3; ++k) {
    if (o[k].scalar) std::fill_n(spread[k], n, *o[k].data);
    row[k] = o[k].scalar ? spread[k] : o[k].data;
  }
  const T *a = row[0], *b = row[1], *c = row[2];
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) out[j] = a[j] != T(0) ? b[j] : c[j];
}

/// lanes[(first + j) % kLanes] = f(lanes[..], v[j]), the lanes in registers over the whole rounds between the ragged
/// ends.
template <class L, class T, class F>
inline void fold_row(L* lanes, const T* v, std::size_t n, std::size_t first, F f) {
  std::size_t j = 0;
  for (; (first + j) % kLanes != 0 && j < n; ++j) {
    lanes[(first + j) % kLanes] = f(lanes[(first + j) % kLanes], static_cast<L>(v[j]));
  }
  L local[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) local[k] = lanes[k];
  for (; j + kLanes <= n; j += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) local[k] = f(local[k], static_cast<L>(v[j + k]));
  }
  for (std::size_t k = 0; j < n; ++j, ++k) local[k] = f(local[k], static_cast<L>(v[j]));
  for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = local[k];
}
template <class L, class F>
inline void join_lanes(L* lanes, F f) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) lanes[k] = f(lanes[k], lanes[k + half]);
  }
}
