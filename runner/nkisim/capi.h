#pragma once

#include <stddef.h>
#include <stdint.h>

/// The engine as a C library (neuronxcc/_engine.so), for Python through ctypes. Every function takes the bytes of a
/// program (docs/formats/program.md); none throws, none keeps memory. @threads safe.
#ifdef __cplusplus
extern "C" {
#endif

#define NKISIM_OK 0
#define NKISIM_FAULT 1   /* the kernel's fault while it ran */
#define NKISIM_CORRUPT 2 /* no valid program */
#define NKISIM_MISUSE 3  /* the caller's bug: sizes, alignment, null */

/// @returns NKISIM_OK or NKISIM_CORRUPT with the reason in `error` (cut to error_size - 1 bytes).
int nkisim_validate(const void* program, size_t size, char* error, size_t error_size);

/// Validates and runs. Inputs in parameter order, outputs in output order, C order, aligned to their elements; outputs
/// are poisoned first.
/// @param report JSON: {"code", "line", "message", "hints": [...], "unwritten": [...]}; empty when it does not fit
int nkisim_run(const void* program, size_t size, const void* const* inputs, const size_t* input_bytes,
               size_t input_count, void* const* outputs, const size_t* output_bytes, size_t output_count,
               uint32_t poison_nan_bits, uint8_t poison_int_byte, char* report, size_t report_size);

/// Runs again, watched, and says why results may be wrong (diagnose.hpp); for outputs with NaN or with elements that
/// were never stored.
/// @param causes JSON list of texts that name variable, index and line; empty when it does not fit
int nkisim_diagnose(const void* program, size_t size, const void* const* inputs, const size_t* input_bytes,
                    size_t input_count, uint32_t poison_nan_bits, uint8_t poison_int_byte, char* causes,
                    size_t causes_size);

/// Latency estimate [us]; negative for no valid program.
double nkisim_estimate_us(const void* program, size_t size);
/// Bytes that go with it, spills included, under the name of a counter of the vendor's profiler ("hbm_read_bytes", ...:
/// estimate/traffic.hpp); negative for no valid program, or no such counter.
double nkisim_counter(const void* program, size_t size, const char* name);

#ifdef __cplusplus
}
#endif
