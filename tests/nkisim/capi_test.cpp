#include "runner/nkisim/capi.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nkisim/make.hpp"
#include "tests/nkisim/write.hpp"

namespace nkigrid::nkisim {
namespace {

using namespace make;
using ::testing::HasSubstr;

/// The library as Python loads it.
struct Library {
  void* handle = dlopen(NKIGRID_BUILD_DIR "/nkisim/neuronxcc/_engine.so", RTLD_NOW | RTLD_LOCAL);
  decltype(&nkisim_validate) validate = nullptr;
  decltype(&nkisim_run) run = nullptr;
  decltype(&nkisim_diagnose) diagnose = nullptr;
  decltype(&nkisim_estimate_us) estimate_us = nullptr;
  decltype(&nkisim_counter) counter = nullptr;
  Library() {
    if (handle == nullptr) return;
    validate = reinterpret_cast<decltype(validate)>(dlsym(handle, "nkisim_validate"));
    run = reinterpret_cast<decltype(run)>(dlsym(handle, "nkisim_run"));
    diagnose = reinterpret_cast<decltype(diagnose)>(dlsym(handle, "nkisim_diagnose"));
    estimate_us = reinterpret_cast<decltype(estimate_us)>(dlsym(handle, "nkisim_estimate_us"));
    counter = reinterpret_cast<decltype(counter)>(dlsym(handle, "nkisim_counter"));
  }
};

struct CApi : ::testing::Test {
  static void SetUpTestSuite() { library = new Library; }
  void SetUp() override { ASSERT_TRUE(library->handle != nullptr && library->run != nullptr) << dlerror(); }
  static Library* library;
};
Library* CApi::library = nullptr;

TEST_F(CApi, RunsAProgramAndReportsInJson) {
  const std::string bytes = to_bytes(add_program(1, 4));
  const std::vector<float> x(512, 1.5f), y(512, 2.0f);
  std::vector<float> out(512);
  const void* inputs[] = {x.data(), y.data()};
  void* outputs[] = {out.data()};
  const size_t in_sizes[] = {2048, 2048}, out_sizes[] = {2048};
  char report[512];
  ASSERT_EQ(library->run(bytes.data(), bytes.size(), inputs, in_sizes, 2, outputs, out_sizes, 1, 0x7fc0dead, 0xa5,
                         report, sizeof report),
            NKISIM_OK);
  EXPECT_EQ(out, std::vector<float>(512, 3.5f));
  EXPECT_STREQ(report, R"({"code":"","line":0,"message":"","hints":[],"unwritten":[0]})");
  EXPECT_GT(library->estimate_us(bytes.data(), bytes.size()), 2.0);
  EXPECT_EQ(library->counter(bytes.data(), bytes.size(), "hbm_read_bytes"), 2 * 2048);
  EXPECT_EQ(library->counter(bytes.data(), bytes.size(), "hbm_write_bytes"), 2048);
  EXPECT_LT(library->counter(bytes.data(), bytes.size(), "hbm_bytes"), 0);
}

TEST_F(CApi, SaysWhyAProgramIsRefused) {
  char error[200];
  EXPECT_EQ(library->validate("NKIPROG", 7, error, sizeof error), NKISIM_CORRUPT);
  EXPECT_STREQ(error, "program is corrupt at byte 7: it ends too early");
  char tiny[8];
  EXPECT_EQ(library->validate("NKIPROG", 7, tiny, sizeof tiny), NKISIM_CORRUPT);
  EXPECT_STREQ(tiny, "program");
  EXPECT_EQ(library->validate(nullptr, 0, nullptr, 0), NKISIM_CORRUPT);
  EXPECT_LT(library->estimate_us("x", 1), 0);
  EXPECT_LT(library->counter("x", 1, "hbm_read_bytes"), 0);
}

TEST_F(CApi, WrongSizesAreMisuse) {
  const std::string bytes = to_bytes(add_program(1, 4));
  char report[512];
  EXPECT_EQ(
      library->run(bytes.data(), bytes.size(), nullptr, nullptr, 0, nullptr, nullptr, 0, 0, 0, report, sizeof report),
      NKISIM_MISUSE);
  EXPECT_THAT(report, HasSubstr("0 inputs for 2 parameters"));
}

TEST_F(CApi, DiagnosisIsAListOfTexts) {
  Made m;
  const auto out = m.output({4, 8}), tile = m.tile(BufferKind::sbuf, {4, 8});
  m.program.body.push_back({2, map(Instr::store, {4, 8}, whole(out, 2), {from(whole(tile, 2))}, {}, Work::raw)});
  const std::string bytes = to_bytes(m.program);
  char causes[512];
  ASSERT_EQ(library->diagnose(bytes.data(), bytes.size(), nullptr, nullptr, 0, 0x7fc0dead, 0xa5, causes, sizeof causes),
            NKISIM_OK);
  EXPECT_STREQ(causes, R"(["variable `b1` (line 1) was read before it was written, first at [0, 0] by line 2"])");
  EXPECT_EQ(library->diagnose("x", 1, nullptr, nullptr, 0, 0, 0, causes, sizeof causes), NKISIM_CORRUPT);
  EXPECT_STREQ(causes, "");
}

}  // namespace
}  // namespace nkigrid::nkisim
