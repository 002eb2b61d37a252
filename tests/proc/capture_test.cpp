#include "runner/proc/capture.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nkigrid::proc {
namespace {

std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(HeadTail, KeepsAllThatFits) {
  HeadTail stream(100);
  stream.add(letters(60));
  stream.add("tail");
  EXPECT_EQ(stream.text(), letters(60) + "tail");
  EXPECT_EQ(stream.total_bytes(), 64U);
}

TEST(HeadTail, KeepsHeadAndTailWhateverThePiecesAre) {
  const auto whole = letters(1000);
  for (const std::size_t piece : {1U, 7U, 20U, 21U, 99U, 1000U}) {
    HeadTail stream(40);
    for (std::size_t at = 0; at < whole.size(); at += piece) stream.add(std::string_view(whole).substr(at, piece));
    EXPECT_EQ(stream.text(), whole.substr(0, 20) + "\n... [960 bytes left out] ...\n" + whole.substr(980))
        << "pieces of " << piece;
  }
}

TEST(HeadTail, HashIsOfTheWholeStream) {
  HeadTail stream(4);
  stream.add("abc");
  stream.add("");
  EXPECT_EQ(stream.sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-2, B.1
}

}  // namespace
}  // namespace nkigrid::proc
