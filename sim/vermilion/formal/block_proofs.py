"""The proofs of single blocks, docs/proofs/blocks.md: what each is called, how far it goes, and the faults that it must find.

The Scala side has the same names: hw/test/src/vermilion/formal/EmitBlockProofs.scala.
"""

from dataclasses import dataclass, field

from .fault import Fault


@dataclass(frozen=True)
class Proof:
    """`start`: clocks before anything may come (reset and sweeps); `depth`: clocks from then on; `closes`: then for every clock, too."""

    what: str
    start: int
    depth: int
    closes: bool
    faults: dict[str, Fault] = field(default_factory=dict)


QUEUES = {
    "lost": Fault(
        "packets that join queue 1 are not linked",
        "QueueManager",
        r"\.write +\(e1Links\)",
        ".write (e1Links & ~e1_queue)",
    ),
    "order": Fault(
        "a packet is linked behind its own queue's first",
        "QueueManager",
        r"\.writeAddress +\(e1Newest\)",
        ".writeAddress (t1Cell)",
    ),
    "forwarding": Fault(
        "the newest packet of the clock before is not seen",
        "QueueManager",
        r"(e1Newest =\s+)io_newestServed_0_hit_lastEnable",
        r"\1 1'h0",
    ),
    "never-idle": Fault(
        "a queue never becomes idle", "QueueManager", r"becomesIdle <= [^;]*& ~follows;", "becomesIdle <= 1'h0;"
    ),
    "reactivation": Fault(
        "a reactivation is not reported",
        "QueueManager",
        r"io_reactivated_valid = t1Emptied & t1Followed",
        "io_reactivated_valid = 1'h0",
    ),
}

FREE_LIST = {
    "lost": Fault(
        "the last cell of a chain is not handed out",
        "FreeList",
        r"_chains_io_deq_bits_cells - 3'h1|_chains_io_deq_bits_cells - 2'h1",
        "_chains_io_deq_bits_cells - 2'h1 - {1'h0, _chains_io_deq_bits_cells > 3'h1}",
    ),
    "doubled": Fault(
        "a chain is walked for one cell too many",
        "FreeList",
        r"_chains_io_deq_bits_cells - [23]'h1",
        "_chains_io_deq_bits_cells",
    ),
    "lost-chain": Fault(
        "a chain of each way is fetched at once, and one kept",
        "FreeList",
        r"_banks_0_io_available & ~pickSecond",
        "_banks_0_io_available",
    ),
    "count": Fault(
        "of two chains that come at once one is counted",
        "FreeList",
        r"io_freedByReader_valid \? io_freedByReader_bits_cells",
        "io_freedByReader_valid & ~io_freedByPolicy_valid ? io_freedByReader_bits_cells",
    ),
}

READER = {
    "lost": Fault(
        "the address goes on while the way out waits",
        "PacketReader",
        r"advance \? nextAddress : address",
        "nextAddress",
    ),
    "valid": Fault(
        "valid falls while the way out waits", "PacketReader", r"advance = ~valid \| io_cell_ready", "advance = 1'h1"
    ),
    "order": Fault(
        "the second cell is the first again", "PacketReader", r": io_readLink", ": first ? address : io_readLink"
    ),
    "freed": Fault(
        "a chain comes back while its last cell waits", "PacketReader", r"(io_freed_valid = )[^;]*;", r"\1valid & last;"
    ),
}

REWRITE = {
    "valid": Fault(
        "valid falls while the way out waits", "HeaderRewrite", r"s1Ready = ~s2Valid \| io_out_ready", "s1Ready = 1'h1"
    ),
    "doubled": Fault("a cell stays behind", "HeaderRewrite", r"s2Valid <= s1Valid;", "s2Valid <= s1Valid | s2Valid;"),
    "byte": Fault(
        "an option is padded in the third cell too",
        "HeaderRewrite",
        r"second <= io_in_bits_cell_first & ~io_in_bits_cell_last",
        "second <= ~io_in_bits_cell_last",
    ),
    "flags": Fault(
        "another cell's end", "HeaderRewrite", r"s2_cell_last <= s1_cell_last", "s2_cell_last <= io_in_bits_cell_last"
    ),
}

GATHER = {
    "valid": Fault(
        "a cell that waits is overwritten", "CellGather", r"cellValid <= take & complete;", "cellValid <= 1'h0;"
    ),
    "order": Fault(
        "a frame does not begin a new cell",
        "CellGather",
        r"slot <= complete \? 3'h0 : slot",
        "slot <= &slot ? 3'h0 : slot",
    ),
    "length": Fault(
        "lengths run on from frame to frame",
        "CellGather",
        r"if \(io_in_bits_last\)\s+beatsBefore <= 14'h0;\s+else if",
        "if",
    ),
    "bad": Fault(
        "a frame with a hole in keep is good", "CellGather", r"badNow =\s+frameBad\s+\|", "badNow = frameBad &"
    ),
}

SERIALIZER = {
    "valid": Fault(
        "valid falls while the way out waits",
        "Serializer",
        r"\((_GEN_\d) \? ~lastBeat : busy\)",
        r"\1 & ~lastBeat",
    ),
    "payload": Fault("data go on while the way out waits", "Serializer", r"else if \(_GEN_\d\) begin", "else begin"),
    "last": Fault(
        "every beat of the last cell has tlast",
        "Serializer",
        r"io_out_bits_last = last & lastBeat",
        "io_out_bits_last = last",
    ),
    "keep": Fault("keep has a hole", "Serializer", r"left > 7'h2,", "left > 7'h4,"),
    "lost": Fault("a cell is taken over the last one", "Serializer", r"io_out_ready & lastBeat", "lastBeat"),
}

AXI_LITE = {
    "lost": Fault(
        "a write is taken while the last answer waits, and not answered",
        "AxiLiteSlave",
        r"& answered & ~io_hold",
        "& ~io_hold",
    ),
    "held": Fault("a write is done though it is held", "AxiLiteSlave", r"& answered & ~io_hold", "& answered"),
    "doubled": Fault(
        "a write is done twice",
        "AxiLiteSlave",
        r"(\.io_enq_bits  \(io_axi_aw_bits\),\s+\.io_deq_ready \()doWrite",
        r"\1doWrite & io_axi_b_ready",
    ),
    "answer": Fault(
        "a write's answer falls by itself", "AxiLiteSlave", r"io_axi_b_ready & ~answered \| answered", "1'h1"
    ),
    "order": Fault(
        "a read's address changes before its answer", "AxiLiteSlave", r"~_GEN & io_axi_ar_valid\)", "io_axi_ar_valid)"
    ),
    "reset": Fault("an answer outlives a reset", "AxiLiteSlave", r"answered <= 1'h1;", "answered <= answered;"),
}

SCHEDULER = {
    "order": Fault(
        "the next packet is the one before again",
        "SuccessorPrefetch",
        r"comes <= io_keep[^;]*;",
        "comes <= 1'h0;",
    ),
    "covered": Fault(
        "a packet is sent that its deficit does not cover",
        "SuccessorPrefetch",
        r"assign io_coming_covered =[^;]*;",
        "assign io_coming_covered = 1'h1;",
    ),
    "list": Fault(
        "the successor of another list is taken as that of the list that is served",
        "SuccessorPrefetch",
        r"\(io_same \| alone\)",
        "1'h1",
    ),
}

SCHEDULER_FLUSH = {
    "sent": Fault(
        "a packet that is taken for its flush is sent",
        "EgressQueues",
        r"_scheduler_io_take & _scheduler_io_discards;",
        "1'h0;",
    ),
    "kept": Fault(
        "the cells of a discarded packet stay where they are",
        "EgressQueues",
        r"(discarded_io_enq_valid = )[^;]*;",
        r"\g<1>1'h0;",
    ),
}

SCHEDULER_VERDICTS = {
    "sent": Fault(
        "a packet that its verdict drops goes to the reader, too",
        "EgressQueues",
        r"(chosen_io_enq_valid =\s+_verdicts_io_judged_valid) & ~_verdicts_io_judged_bits_dropped",
        r"\1",
    ),
    "kept": Fault(
        "the cells of a dropped packet stay where they are",
        "EgressQueues",
        r"(discarded_io_enq_valid =\s+)[^;]*;",
        r"\g<1>1'h0;",
    ),
    "lost": Fault(
        "the bytes of a dropped packet do not come back",
        "Scheduler",
        r"claim_turns & io_dropped_valid & io_dropped_bits_queue == claim_queue",
        "1'h0",
    ),
    "early": Fault(
        "a DRR turn ends before its verdicts are known",
        "Scheduler",
        r"(mayInsert =[^;]*)& claim_open == 4'h0",
        r"\1",
    ),
}

SCHEDULER_FLOWS = {
    "always-new": Fault(
        "a flow whose empty queue waits for its place is new",
        "Scheduler",
        r"(lists_io_pushNew =[^;]*)& ~_places_io_waited;",
        r"\1;",
    ),
    "second": Fault(
        "a packet whose queue has a place in the DRR list is inserted anew",
        "Scheduler",
        r"jFills = _places_io_isListed & j_mayPark;",
        "jFills = 1'h0;",
    ),
    "lost": Fault(
        "the bytes of a new flow's dropped packet do not come back",
        "Scheduler",
        r"newClaim_turns & io_dropped_valid & io_dropped_bits_queue == newClaim_queue",
        "1'h0",
    ),
    "early": Fault(
        "a new flow's turn ends before its verdicts are known",
        "Scheduler",
        r"isNew \? \(\|newClaim_open\)",
        "isNew ? 1'h0",
    ),
    "shared": Fault(
        "bytes of a new flow come back to the queue whose turn it interrupts",
        "Scheduler",
        r"(\W)claim_turns & io_dropped_valid & io_dropped_bits_queue == claim_queue",
        r"\1claim_turns & io_dropped_valid",
    ),
}
SCHEDULER_LATER = {
    "third": Fault(
        "of a queue that becomes first with three packets the newest is taken as its successor",
        "SuccessorPrefetch",
        r"& io_arrived_bits_newestBefore == io_arrived_bits_packet_name",
        "",
    ),
}

COUNTERS = {
    "forwarding": Fault(
        "of two events in a row one is lost", "RecordRamChecks", r"old_hit <= [^;]*;", "old_hit <= 1'h0;"
    ),
    "snapshot": Fault(
        "a slot that changes during the walk is not saved first", "RecordRamChecks", r"~\(_save_T_4\[0\]\)", "1'h0"
    ),
    "clear": Fault(
        "a cleared record keeps its count",
        "RecordRamChecks",
        r"\{epoch, old\[2\] == epoch \?",
        "{epoch, 1'h1 ?",
    ),
    "tidy": Fault(
        "tidying up after a clear takes the place of an event",
        "RecordRamChecks",
        r"target = counts \? (\{free_queue, free_slot\}) : free_asks \? asked : visit;",
        r"target = visiting ? visit : counts ? \1 : asked;",
    ),
    "lookup": Fault(
        "a lookup of the snapshot takes the place of an event",
        "RecordRamChecks",
        r"target = counts \? (\{free_queue, free_slot\}) : free_asks \? asked : visit;",
        r"target = free_asks ? asked : counts ? \1 : visit;",
    ),
}

AGEING = {
    "frozen": Fault(
        "what an ageing leaves over is dropped",
        "IdleAge",
        r"s1Residue <= [^;]*;",
        "s1Residue <= 48'h0;",
    ),
    "pending": Fault(
        "the steps of packets in the pipeline are dropped",
        "QueueStateLookup",
        r"remainder_pending = isReady \? [^;]*;",
        "remainder_pending = 3'h0;",
    ),
}

PROOFS = {
    "ageing": Proof(
        "averages of empty queues: none stands still, every packet's step is taken once", 9, 30, False, AGEING
    ),
    "queues": Proof(
        "queue manager: no packet lost or doubled, order of every queue, backlogged exactly when it holds one",
        3,
        9,
        False,
        QUEUES,
    ),
    "free-list": Proof(
        "free list of 4 cells: no cell handed out twice, none lost, count right", 1, 14, False, FREE_LIST
    ),
    "free-list-2": Proof("the same of 2 cells", 1, 14, True),
    "reader": Proof("packet reader: cells in the order of the chain, which comes back once", 1, 10, True, READER),
    "rewrite": Proof(
        "header rewrite: cells once and in order, no byte touched that is not edited", 1, 8, True, REWRITE
    ),
    "gather-64": Proof("beats to cells, 64 bits: bytes once and in order, length, flags", 1, 12, True, GATHER),
    "gather-512": Proof("beats to cells, 512 bits", 1, 12, True),
    "serializer-64": Proof("the way out, 64 bits: AXI-Stream, bytes once and in order", 1, 12, True, SERIALIZER),
    "serializer-512": Proof("the way out, 512 bits", 1, 12, True),
    "axi-lite": Proof("AXI4-Lite: one answer a request, in order, no write lost, reset", 1, 12, True, AXI_LITE),
    "scheduler": Proof(
        "queues, lists, choice: every packet once, in order, strict priority, deficits, nothing rests",
        5,
        9,
        False,
        SCHEDULER,
    ),
    "scheduler-flush": Proof(
        "the same while anything may be flushed, and the egress paused, in any clock", 5, 8, False, SCHEDULER_FLUSH
    ),
    "scheduler-verdicts": Proof(
        "the same with any verdict on any packet: none is both dropped and sent, or neither; deficits come back",
        5,
        11,
        False,
        SCHEDULER_VERDICTS,
    ),
    "scheduler-flows": Proof(
        "the same where queues hold flows: no queue that waits is passed twice by a new flow",
        5,
        11,
        False,
        SCHEDULER_FLOWS,
    ),
    "scheduler-later": Proof("the same for more clocks, with a clock's more patience", 5, 12, False, SCHEDULER_LATER),
    "counters": Proof("record RAMs: each event counts once, a snapshot is of one clock", 5, 16, True, COUNTERS),
}
