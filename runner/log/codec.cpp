#include "runner/log/codec.hpp"

#include <concepts>
#include <cstdint>

#include "runner/log/bytes.hpp"
#include "runner/log/contradiction.hpp"
#include "runner/log/record_fields.hpp"
#include "runner/log/words.hpp"

namespace nkigrid::log {
namespace {

constexpr int kRunOfBegin = 14;  // beside a begin's own fields

enum Wire : std::uint8_t { kVarint = 0, kDouble = 1, kBytes = 2 };

class Encoder {
 public:
  explicit Encoder(std::uint8_t kind) { out_ += static_cast<char>(kind); }
  explicit Encoder(std::string payload) : out_(std::move(payload)) {}  ///< goes on with one

  template <std::unsigned_integral T>
  void field(int number, T value) {
    tag(number, kVarint), varint(value);
  }
  void field(int number, std::int8_t value) {
    const std::int64_t n = value;
    tag(number, kVarint), varint(static_cast<std::uint64_t>(n << 1) ^ static_cast<std::uint64_t>(n >> 63));
  }
  void field(int number, double value) { tag(number, kDouble), put(out_, value); }
  void field(int number, const std::string& value) { bytes(number, value); }
  template <class E>
  requires std::is_enum_v<E>
  void field(int number, E value) { bytes(number, to_string(value)); }
  void text(int number, const std::string& value) { bytes(number, value); }

  std::string take() { return std::move(out_); }

 private:
  void tag(int number, Wire wire) { out_ += static_cast<char>(number * 4 + wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  void bytes(int number, std::string_view value) {
    tag(number, kBytes), varint(value.size());
    out_ += value;
  }

  std::string out_;
};

/// One field as it stands in the bytes.
struct RawField {
  int number = 0;
  Wire wire = kVarint;
  std::uint64_t integer = 0;
  double real = 0;
  std::string_view bytes;
};

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool done() const noexcept { return rest_.empty(); }

  bool next(RawField& field) {
    const auto tag = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    field.number = tag >> 2;
    field.wire = static_cast<Wire>(tag & 3);
    switch (field.wire) {
      case kVarint:
        return varint(field.integer);
      case kDouble:
        if (rest_.size() < 8) return false;
        field.real = get<double>(rest_, 0);
        rest_.remove_prefix(8);
        return true;
      case kBytes: {
        std::uint64_t size = 0;
        if (!varint(size) || size > rest_.size()) return false;
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
    }
    return false;
  }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return shift < 63 || byte <= 1;
    }
    return false;
  }

  std::string_view rest_;
};

/// Stores one field where its number belongs; a visitor over the list of fields.
class Storer {
 public:
  Storer(const RawField& field, bool with_texts) : raw_(field), with_texts_(with_texts) {}
  bool ok() const noexcept { return ok_; }

  template <std::unsigned_integral T>
  void field(int number, T& value) {
    if (!mine(number, kVarint)) return;
    value = static_cast<T>(raw_.integer);
    ok_ = value == raw_.integer;
  }
  void field(int number, std::int8_t& value) {
    if (!mine(number, kVarint)) return;
    const auto n = static_cast<std::int64_t>(raw_.integer >> 1) ^ -static_cast<std::int64_t>(raw_.integer & 1);
    value = static_cast<std::int8_t>(n);
    ok_ = value == n;
  }
  void field(int number, double& value) {
    if (mine(number, kDouble)) value = raw_.real;
  }
  void field(int number, std::string& value) {
    if (mine(number, kBytes)) value = raw_.bytes;
  }
  template <class E>
  requires std::is_enum_v<E>
  void field(int number, E& value) {
    if (!mine(number, kBytes)) return;
    const auto word = parse_word<E>(raw_.bytes);
    if (word)
      value = *word;
    else
      ok_ = false;
  }
  void text(int number, std::string& value) {
    if (mine(number, kBytes) && with_texts_) value = raw_.bytes;
  }

 private:
  bool mine(int number, Wire wire) {
    if (number != raw_.number) return false;
    if (wire != raw_.wire) ok_ = false;
    return ok_;
  }

  const RawField& raw_;
  bool with_texts_;
  bool ok_ = true;
};

template <class R>
std::string encode_as(std::uint8_t kind, const R& record) {
  Encoder encoder(kind);
  fields(record, encoder);
  return encoder.take();
}

template <class R>
std::optional<Payload> decode_as(std::string_view bytes, bool with_texts) {
  R record{};
  Cursor cursor(bytes);
  RawField raw;
  while (!cursor.done()) {
    if (!cursor.next(raw)) return std::nullopt;
    Storer storer(raw, with_texts);
    fields(record, storer);
    if (!storer.ok()) return std::nullopt;
  }
  if constexpr (std::is_same_v<R, Turn> || std::is_same_v<R, End>) {
    if (!contradiction(record).empty()) return std::nullopt;
  }
  return record;
}

}  // namespace

std::string encode(const LogHeader& header) { return encode_as(0, header); }

std::string encode(const Record& record) {
  return std::visit([&](const auto& r) { return encode_as(static_cast<std::uint8_t>(record.index() + 1), r); }, record);
}

std::string encode(const Record& record, const std::string& run_id) {
  auto payload = encode(record);
  if (!std::holds_alternative<Begin>(record)) return payload;
  Encoder run(payload);
  run.field(kRunOfBegin, run_id);
  return run.take();
}

std::optional<std::string> run_of_begin(std::string_view payload) {
  if (!payload.starts_with('\1')) return std::nullopt;
  Cursor cursor(payload.substr(1));
  for (RawField raw; !cursor.done() && cursor.next(raw);) {
    if (raw.number == kRunOfBegin && raw.wire == kBytes) return std::string(raw.bytes);
  }
  return std::nullopt;
}

std::optional<Payload> decode(std::string_view bytes, bool with_texts) {
  if (bytes.empty()) return std::nullopt;
  const auto rest = bytes.substr(1);
  switch (bytes.front()) {
    case 0:
      return decode_as<LogHeader>(rest, with_texts);
    case 1:
      return decode_as<Begin>(rest, with_texts);
    case 2:
      return decode_as<Reply>(rest, with_texts);
    case 3:
      return decode_as<Turn>(rest, with_texts);
    case 4:
      return decode_as<End>(rest, with_texts);
  }
  return std::nullopt;
}

}  // namespace nkigrid::log
