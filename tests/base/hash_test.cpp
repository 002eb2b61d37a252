#include "jobs/base/hash.hpp"

#include <gtest/gtest.h>

namespace nkigrid {
namespace {

TEST(Hash, HmacKnowsItsTestVectors) {
  // RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  // Of neither a key nor a text: hmac.new(b"", b"", "sha256") of Python.
  EXPECT_EQ(to_hex(hmac_sha256({}, {})), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Hash, Sha256KnowsItsTestVectors) {
  // FIPS 180-4 examples: "abc", the empty message, and a million times "a".
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.update(std::string(1000, 'a'));
  EXPECT_EQ(hash.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, FieldsArePrefixedWithTheirLength) {
  // python3: import hashlib; f=lambda *a: hashlib.sha256(b''.join(len(x).to_bytes(8,'little')+x for x in
  // a)).hexdigest()
  EXPECT_EQ(Sha256().field("ab").field("").field("c").hex(),
            "fc8c9cb2fcf043eccbb4a1d9db773cf56aac8ccc96cd90987a38a862db532f0b");
  EXPECT_NE(Sha256().field("a").field("bc").hex(), Sha256().field("ab").field("c").hex());
}

TEST(Hash, KeyedHashIsTheFirstEightBytesLittleEndian) {
  // python3: int.from_bytes(hashlib.sha256(...).digest()[:8], 'little') over b'20260705', b'sample',
  // 'größe'.encode()
  EXPECT_EQ(keyed_hash({"20260705", "sample", "größe"}), 7424904842877508358ULL);
  EXPECT_EQ(keyed_hash({}), 1449310910991872227ULL);
}

TEST(Hash, TheSamplingSeedIsOfRunCellTaskAndReplicate) {
  // python3: H(b'20260705', b'sample', b'novice.ss.naive', b'L1/012_gelu', b'3') % 2**31
  EXPECT_EQ(sampling_seed(20260705, "novice.ss.naive", "L1/012_gelu", 3), 152402404U);
  EXPECT_LT(sampling_seed(1, "a", "b", 1), 1U << 31);
}

}  // namespace
}  // namespace nkigrid
