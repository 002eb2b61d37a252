#include "jobs/base/key_like.hpp"

#include <gtest/gtest.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

TEST(KeyLike, WordsThatBeginAsProvidersKeysDoAreHidden) {
  for (const std::string key :
       {"sk-proj-Zm9vYmFy1234", "sk-ant-api03-abcdefgh", "gsk_0123456789ab", "nvapi-0123456789", "hf_abcdefghijkl",
        "AIzaSyA-0123456789", "AKIA0123456789ABCDEF", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.SflKxwRJ"})
    EXPECT_EQ(without_key_like("the key '" + key + "' is wrong; see " + key), "the key '[key]' is wrong; see [key]");
}

TEST(KeyLike, OtherWordsStay) {
  for (const std::string text : {"sk-", "task-0123456789abcdef", "risk_0123456789abcdef", "L1/001_add#1",
                                 "Qwen/Qwen3-Coder-30B-A3B-Instruct", "0123456789abcdef0123456789abcdef"})
    EXPECT_EQ(without_key_like(text), text);
}

TEST(KeyLike, NoErrorRepeatsOne) {
  EXPECT_STREQ(Error(ErrorCode::config, "no file 'sk-proj-Zm9vYmFy1234'").what(), "no file '[key]'");
}

}  // namespace
}  // namespace nkigrid
