package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.parse.TtlOption

/** Overwrites bytes of a cell, beat by beat, as the egress sends it.
  *
  * The edit works on one beat at a time, so only the bytes of one beat need multiplexers.
  *
  * The IP header begins at one of `CellEdit.Offsets`. Its first two bytes (version, IHL and TOS, or version and traffic class) become `traffic`, and
  * bytes 10 and 11 `checksum`; four bytes from `padStart` on become padding, four NOPs in IPv4 (RFC 791) and a PadN of four bytes in IPv6 (RFC 8200).
  * The padding may span two cells, or be in a packet's second cell: `padStart` counts from this cell's first byte, modulo 128.
  */
class CellEdit extends Bundle {
  val place = UInt(2.W) // of the IP header among CellEdit.Offsets
  val setsTraffic, setsChecksum, pads, isIp4 = Bool()
  val traffic, checksum = UInt(16.W)
  val padStart = UInt(CellEdit.StartBits.W)

  /** Beat `number` of the cell, edited. */
  def apply(beat: UInt, number: UInt): UInt = {
    val beatBytes = beat.getWidth / 8
    val (beats, laneBits) = (CellBytes / beatBytes, log2Ceil(beatBytes))
    def inBeat(byte: Int): Bool = if (beats == 1) true.B else number === (byte / beatBytes).U

    val (from, lane) = (padStart >> laneBits, padStart(laneBits - 1, 0))
    def padBeat(back: Int): UInt = Arithmetic.wrap(number.pad(from.getWidth) - back.U, from.getWidth)
    val beginsHere = pads && from === padBeat(0)
    val beganBefore = pads && from === padBeat(1)
    VecInit(Seq.tabulate(beatBytes) { j =>
      val nth = Seq.tabulate(TtlOption.Bytes) { n =>
        if (j >= n) beginsHere && lane === (j - n).U else beganBefore && lane === (beatBytes + j - n).U
      }
      val pad6 = Mux(nth(0), 1.U(8.W), Mux(nth(1), (TtlOption.Bytes - 2).U(8.W), 0.U(8.W)))
      val padded = Mux(VecInit(nth).asUInt.orR, Mux(isIp4, 1.U, pad6), beat(8 * j + 7, 8 * j))
      val words = Seq(
        0 -> (setsTraffic, traffic(15, 8)),
        1 -> (setsTraffic, traffic(7, 0)),
        10 -> (setsChecksum, checksum(15, 8)),
        11 -> (setsChecksum, checksum(7, 0))
      )
      val here = for {
        (at, place) <- CellEdit.Offsets.zipWithIndex
        (offset, (sets, value)) <- words
        if (at + offset) % beatBytes == j
      } yield (sets && this.place === place.U && inBeat(at + offset), value)
      here.foldLeft(padded) { case (byte, (sets, value)) => Mux(sets, value, byte) }
    }).asUInt
  }
}

object CellEdit {

  /** Byte offsets at which an IP header can begin: after no VLAN tag, one, or two. */
  val Offsets: Seq[Int] = Seq(14, 18, 22)

  /** Twice a cell's bytes. */
  val StartBits: Int = log2Ceil(2 * CellBytes)
}

/** A cell at the egress, with its edit. */
class SentCell extends OutCell {
  val edit = new CellEdit
}
