package vermilion.fixed

/** Defines every number format of the lane. Meaning and rounding: `docs/architecture.md`, "Number formats".
  *
  * The C++ model has the same names in `sim/model/formats.h`; a test compares both.
  */
object Formats {

  /** Bits of a length or backlog, in bytes or packets: U27, to 64 MiB and beyond. */
  val LenBits = 27

  /** Fraction bits of an average: U27.16. */
  val AvgFrac = 16
  val AvgBits = LenBits + AvgFrac

  /** Bits of a probability: U1.32, 1.0 = 2^32 exactly. */
  val ProbFrac = 32
  val ProbBits = ProbFrac + 1

  /** Fraction bits of the position within a curve segment: U8.24, weighted by the packet's size. */
  val PosFrac = 24

  /** Bits of the spacing accumulator: U2.32. */
  val SpaceBits = ProbFrac + 2

  /** Average weight: mantissa U9, 256 = 1.0 at exponent 0; W = m 2^-(8+e). */
  val WeightMantBits = 9
  val WeightExpBits = 5

  /** Maximum number of decisions of one queue between the read and the write of an average. */
  val EwmaStages = 6

  /** Scaled reciprocals: mantissa and right shift. */
  val LambdaMantBits = 16
  val InvMantBits = 18
  val SizeMantBits = 16
  val CostMantBits = 18
  val ShiftBits = 6

  /** Idle exponent x = t lambda, U6.10. */
  val IdleFrac = 10
  val IdleBits = 16

  /** Bits of the step that one arrival at an empty queue adds to x. Its unit is that of t lambda.mant, 2^-(10 + lambda.shift). The remainder of x below
    * 2^-10, which an ageing keeps for the next one, has as many bits.
    */
  val IdleStepBits = 48

  /** Size ratio L / L_mean, U8.12. */
  val RatioFrac = 12
  val RatioBits = 20
  val WayBits = PosFrac + 8

  /** Time in nanoseconds, 78 hours before it wraps. */
  val TimeBits = 48

  /** Fraction bits of ns in shapers and markers: U48.16. */
  val ShaperFrac = 16

  /** A marker's bucket depth or level in whole ns: 64 MiB at 64 kb/s. */
  val BurstBits = 44

  /** Bits of each of a marker's two random numbers, and the shift of REDP's span. */
  val MarkDrawBits = 16
  val SpanShift = 26

  /** Packet lengths in bytes, to 64 KiB: as long as a segment that a host with segmentation offload captures. */
  val PktLenBits = 16

  /** Bytes of a buffer cell. */
  val CellBytes = 64
}
