#include "jobs/base/hash.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {

namespace {

/// Looked up once: OpenSSL looks up EVP_sha256() anew, by name and under a lock, for every digest.
const EVP_MD* sha256() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return method;
}

/// HMAC with SHA-256, without a key. Looked up once, as the digest: HMAC() looks up three names for every record.
const EVP_MAC_CTX* hmac_template() {
  static const EVP_MAC_CTX* const made = [] {
    EVP_MAC* const method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* const context = EVP_MAC_CTX_new(method);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                     OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(context, parameters) == 1 ? context : nullptr;
  }();
  return made;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* raw = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(raw); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (context_->raw == nullptr || EVP_DigestInit_ex(context_->raw, sha256(), nullptr) != 1) {
    throw Error(ErrorCode::internal, "OpenSSL cannot start SHA-256");
  }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(context_->raw, bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::field(std::string_view bytes) {
  std::array<char, 8> size;
  for (std::size_t i = 0; i < size.size(); ++i)
    size[i] = static_cast<char>((std::uint64_t{bytes.size()} >> (8 * i)) & 0xff);
  return update({size.data(), size.size()}).update(bytes);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  std::array<std::uint8_t, 32> out{};
  EVP_DigestFinal_ex(context_->raw, out.data(), nullptr);
  return out;
}

std::string Sha256::hex() { return to_hex(digest()); }

std::string to_hex(const std::array<std::uint8_t, 32>& digest) {
  std::string text;
  text.reserve(64);
  for (const auto byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::array<std::uint8_t, 32> hmac_sha256(std::string_view key, std::string_view bytes) {
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_dup(hmac_template()),
                                                                          &EVP_MAC_CTX_free);
  std::array<std::uint8_t, 32> mac{};
  std::size_t size = 0;
  // An empty key may not be a null pointer, which would mean the template's.
  const auto* secret = reinterpret_cast<const unsigned char*>(key.empty() ? "" : key.data());
  if (context == nullptr || EVP_MAC_init(context.get(), secret, key.size(), nullptr) != 1 ||
      EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) != 1 ||
      EVP_MAC_final(context.get(), mac.data(), &size, mac.size()) != 1)
    throw Error(ErrorCode::internal, "OpenSSL cannot make an HMAC");
  return mac;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().update(bytes).hex(); }

std::uint64_t keyed_hash(std::initializer_list<std::string_view> fields) {
  Sha256 hash;
  for (const auto field : fields) hash.field(field);
  const auto digest = hash.digest();
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{digest[i]} << (8 * i);
  return value;
}

std::uint32_t sampling_seed(std::uint64_t run_seed, std::string_view cell, std::string_view task,
                            std::uint32_t replicate) {
  const auto hash = keyed_hash({std::to_string(run_seed), "sample", cell, task, std::to_string(replicate)});
  return static_cast<std::uint32_t>(hash & 0x7fffffffU);
}

}  // namespace nkigrid
