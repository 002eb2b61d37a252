#include "runner/device/neuron/status.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace nkigrid::device {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 25> kNames = {{
    {1, "NRT_FAILURE"},
    {2, "NRT_INVALID"},
    {3, "NRT_INVALID_HANDLE"},
    {4, "NRT_RESOURCE"},
    {5, "NRT_TIMEOUT"},
    {6, "NRT_HW_ERROR"},
    {7, "NRT_QUEUE_FULL"},
    {9, "NRT_LOAD_NOT_ENOUGH_NC"},
    {10, "NRT_UNSUPPORTED_NEFF_VERSION"},
    {11, "NRT_FAIL_HOST_MEM_ALLOC"},
    {13, "NRT_UNINITIALIZED"},
    {14, "NRT_CLOSED"},
    {15, "NRT_QUEUE_EMPTY"},
    {101, "NRT_EXEC_UNIT_UNRECOVERABLE"},
    {1002, "NRT_EXEC_BAD_INPUT"},
    {1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
    {1004, "NRT_EXEC_COMPLETED_WITH_ERR"},
    {1005, "NRT_EXEC_NC_BUSY"},
    {1006, "NRT_EXEC_OOB"},
    {1100, "NRT_COLL_PENDING"},
    {1200, "NRT_EXEC_HW_ERR_COLLECTIVES"},
    {1201, "NRT_EXEC_HW_ERR_HBM_UE"},
    {1202, "NRT_EXEC_HW_ERR_NC_UE"},
    {1203, "NRT_EXEC_HW_ERR_DMA_ABORT"},
    {1204, "NRT_EXEC_SW_NQ_OVERFLOW"},
}};

RunOutcome reported(Code code, std::string message) { return run_reported({code, 0, std::move(message), {}, {}}); }

}  // namespace

std::string nrt_name(int status) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [status](const auto& entry) { return entry.first == status; });
  return found == kNames.end() ? fmt::format("status {}", status) : std::string(found->second);
}

RunOutcome outcome_of_nrt(std::string_view call, int status) {
  const auto words = fmt::format("{} returned {} ({})", call, status, nrt_name(status));
  switch (status) {
    case 5:
      return run_ended(RunOutcome::Kind::late, words);
    case 1003:
      return reported(Code::runtime_device, "the device saw NaN in the kernel's arithmetic (NRT 1003)");
    case 1006:
      return reported(Code::oob, "an indirect access of the kernel is out of bounds (NRT 1006)");
    case 9:
    case 10:
    case 11:
    case 13:
    case 14:
    case 1002:
      return run_ended(RunOutcome::Kind::machinery, words);
    default:
      return run_ended(call == "nrt_init" ? RunOutcome::Kind::machinery : RunOutcome::Kind::crashed, words);
  }
}

}  // namespace nkigrid::device
