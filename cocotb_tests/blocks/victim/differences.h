// The first difference between block and model ends a bench.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "formats.h"

namespace {

using vermilion::u32, vermilion::u64;

u64 clocks = 0;

[[noreturn]] void fail(const std::string& what) {
  std::printf("clock %llu: %s\n", static_cast<unsigned long long>(clocks), what.c_str());
  std::exit(1);
}

void same(u64 rtl, u64 model, const char* what) {
  if (rtl != model)
    fail(std::string(what) + " is " + std::to_string(rtl) + ", the model says " + std::to_string(model));
}

}  // namespace
