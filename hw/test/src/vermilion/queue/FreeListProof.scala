package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.formal.StreamRules
import vermilion.lane.LaneParams

/** [[FreeList]]: no cell is handed out twice, none is lost, the count is right.
  *
  * Assumed of who holds the cells: only cells that were handed out come back, each once, in chains linked through the cell buffer; the
  * links are written at least one clock before. A link that is written in the clock in which the walk reads it gives anything. Which cells, in what chains of what
  * length, when and by which of the two ways is free, up to one chain a way and clock, and so is the taking of cells.
  */
class FreeListChecks(p: LaneParams) extends Module {
  private val n = p.cells
  private def oneHot(cell: UInt) = UIntToOH(cell, n)
  class Back extends Bundle {
    val valid = Bool()
    val head = UInt(p.cellBits.W)
    val cells = UInt(p.chainBits.W)
  }
  val free = IO(Input(new Bundle {
    val ready, links = Bool()
    val from, to, anything = UInt(p.cellBits.W)
    val back = Vec(2, new Back)
  }))
  private val dut = Module(new FreeList(p))
  private val held = RegInit(0.U(n.W)) // handed out and not come back

  // ---- links, as the cell buffer has them
  private val links = Reg(Vec(n, UInt(p.cellBits.W)))
  private val collides = WireDefault(false.B) // a RAM that is read and written at once gives anything
  dut.io.walk.data := Mux(RegNext(collides), free.anything, Delay(links(dut.io.walk.address)))

  /** The cells of a chain, and whether it is one: distinct, and all of `of`. */
  private def chain(back: Back, of: UInt): (Bool, UInt) = {
    val steps = Seq.iterate(back.head, n)(links(_))
    val none = (back.cells =/= 0.U && back.cells <= n.U, 0.U(n.W))
    steps.zipWithIndex.foldLeft(none) { case ((legal, cells), (cell, i)) =>
      val within = i.U < back.cells
      (legal && (!within || (of & ~cells)(cell)), Mux(within, cells | oneHot(cell), cells))
    }
  }
  private val (legal0, cells0) = chain(free.back(0), held)
  private val by0 = Mux(free.back(0).valid && legal0, cells0, 0.U)
  private val (legal1, cells1) = chain(free.back(1), held & ~by0)
  private val by1 = Mux(free.back(1).valid && legal1, cells1, 0.U)
  for ((freed, (back, cells)) <- Seq(dut.io.freedByPolicy, dut.io.freedByReader).zip(free.back.zip(Seq(by0, by1)))) {
    freed.valid := cells.orR
    freed.bits.head := back.head
    freed.bits.cells := back.cells
  }
  // A link is written while its cell is held and stays held.
  when(free.links && (held & ~(by0 | by1))(free.from)) {
    links(free.from) := free.to
    collides := dut.io.walk.address === free.from
  }

  // ---- cells
  private val cell = dut.io.cell
  cell.ready := free.ready
  StreamRules.keeps("free cells", cell)
  assert(!cell.valid || !held(cell.bits), "a cell is handed out twice")
  assert(dut.io.freeCells === n.U - PopCount(held), "the count of free cells is wrong")
  held := (held & ~(by0 | by1)) | Mux(cell.fire, oneHot(cell.bits), 0.U)

  // ---- none is lost: as long as a cell is free, one is offered, but for the clocks in which it is on its way
  private val Way = 5
  private val quiet = RegInit(0.U(3.W)) // clocks in which none came back
  quiet := Mux((by0 | by1).orR, 0.U, Mux(quiet === Way.U, quiet, quiet + 1.U))
  private val settled = quiet === Way.U && !cell.valid
  assert(!settled || dut.io.freeCells === 0.U, "a cell is lost: it is free and is not offered")
}
