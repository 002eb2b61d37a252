#include "cli/doctor_torch.hpp"

#include <gmock/gmock.h>

#include "jobs/base/error.hpp"

namespace nkigrid::cli {
namespace {

TEST(DoctorTorch, ABusyMachineIsToldFromOneThatLacksIt) {
  EXPECT_THAT(look_at_torch(), testing::ContainsRegex("torch [0-9]+\\.[0-9]+.* numpy [0-9]+\\."));
  try {
    look_at_torch(Seconds(0.001));
    ADD_FAILURE() << "no Python imports torch in a millisecond";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("within 0.001 s; look again when the machine is less busy"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("install")));
  }
}

}  // namespace
}  // namespace nkigrid::cli
