// Every number format of the lane, for the model. The names and values are those of
// hw/src/vermilion/fixed/Formats.scala; sim/tests/model/test_model_formats.py compares both files.
// Meaning and rounding: docs/architecture.md, "Number formats".
//
// The model uses only integers. Only saturate() and truncate() narrow a value.
#pragma once

#include <cstdint>

namespace vermilion {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using u128 = unsigned __int128;
using i128 = __int128;

constexpr int LenBits = 27;  // U27, bytes or packets
constexpr int AvgFrac = 16;  // U27.16
constexpr int AvgBits = LenBits + AvgFrac;
constexpr int ProbFrac = 32;  // U1.32, 1.0 = 2^32 exactly
constexpr int ProbBits = ProbFrac + 1;
constexpr int PosFrac = 24;              // U8.24, position within a curve segment, weighted by size
constexpr int SpaceBits = ProbFrac + 2;  // U2.32, spacing accumulator
constexpr int WeightMantBits = 9;        // W = m 2^-(8+e), 256 = 1.0 at e = 0
constexpr int WeightExpBits = 5;
constexpr int EwmaStages = 6;  // most decisions of one queue in the pipeline
constexpr int LambdaMantBits = 16;
constexpr int InvMantBits = 18;
constexpr int SizeMantBits = 16;
constexpr int CostMantBits = 18;
constexpr int ShiftBits = 6;
constexpr int IdleFrac = 10;  // U6.10, idle exponent
constexpr int IdleBits = 16;
constexpr int IdleStepBits = 48;  // idle step of an arrival, residue of an ageing, in 2^-(10 + lambda.shift)
constexpr int RatioFrac = 12;     // U8.12, L / L_mean
constexpr int RatioBits = 20;
constexpr int WayBits = PosFrac + 8;
constexpr int TimeBits = 48;       // ns
constexpr int ShaperFrac = 16;     // of ns: shapers, markers: U48.16
constexpr int PktLenBits = 16;     // bytes of a packet
constexpr int BurstBits = 44;      // ns: depth of a marker's bucket
constexpr int MarkDrawBits = 16;   // each of a marker's two random numbers
constexpr int SpanShift = 26;      // of REDP's random span
constexpr int CellBytes = 64;      // bytes of a buffer cell
constexpr int AgeRomFrac = 17;     // ROM[i] = round(2^17 2^(-i/1024)), U1.17
constexpr int HeaderWindow = 128;  // bytes of a frame that the parser reads
constexpr int Colours = 3;

constexpr u64 ProbOne = u64{1} << ProbFrac;
constexpr u32 RatioOne = u32{1} << RatioFrac;

constexpr u64 maxOf(int bits) {
  return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1;
}

// Limits x to the greatest value of `bits` bits.
constexpr u64 saturate(u128 x, int bits) {
  return x > maxOf(bits) ? maxOf(bits) : static_cast<u64>(x);
}

// Limits x to `top`: for formats with a greatest value of 1.0, not all ones.
constexpr u64 saturateAt(u128 x, u64 top) {
  return x > top ? top : static_cast<u64>(x);
}

// As saturate(), and 0 for negative values.
constexpr u64 saturateSigned(i128 x, int bits) {
  return x < 0 ? 0 : saturate(static_cast<u128>(x), bits);
}

// The low `bits` bits.
constexpr u64 truncate(u128 x, int bits) {
  return static_cast<u64>(x) & maxOf(bits);
}

// Serial-number order (RFC 1982): a is at or after b, by less than half the range of `bits` bits.
constexpr bool reached(u64 a, u64 b, int bits) {
  return truncate(u128{a} - b, bits) >> (bits - 1) == 0;
}

// A scaled value (x m) >> s, not narrowed: x to 64 bits, m to 18.
constexpr u128 scale(u64 x, u32 m, u32 s) {
  return (static_cast<u128>(x) * m) >> s;
}

}  // namespace vermilion
