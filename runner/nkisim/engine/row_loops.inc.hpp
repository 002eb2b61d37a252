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

template <class T>
inline void select_row(const Operand<T>* o, std::size_t n, T* out) {
  const std::size_t sa = o[0].scalar ? 0 : 1, sb = o[1].scalar ? 0 : 1, sc = o[2].scalar ? 0 : 1;
  const T *a = o[0].data, *b = o[1].data, *c = o[2].data;
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) out[j] = a[j * sa] != T(0) ? b[j * sb] : c[j * sc];
}

/// lanes[(first + j) % kLanes] = f(lanes[..], v[j]), the lanes in registers over the whole rounds between the ragged
/// ends.
template <class T, class F>
inline void fold_row(T* lanes, const T* v, std::size_t n, std::size_t first, F f) {
  std::size_t j = 0;
  for (; (first + j) % kLanes != 0 && j < n; ++j) lanes[(first + j) % kLanes] = f(lanes[(first + j) % kLanes], v[j]);
  T local[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) local[k] = lanes[k];
  for (; j + kLanes <= n; j += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) local[k] = f(local[k], v[j + k]);
  }
  for (std::size_t k = 0; j < n; ++j, ++k) local[k] = f(local[k], v[j]);
  for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = local[k];
}
