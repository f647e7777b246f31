// The build parameters of the lane that this program is compiled for (hw/src/vermilion/lane/LaneParams.scala).
//
// The compiler's command line gives them (sim/vermilion/toolchain/build.py). The defaults are those of the preset
// `lab`. Only build_shape.cpp and verilated_lane.cpp read them. So all other files are compiled once for all builds.
#pragma once

#ifndef VM_DATA_BITS
#define VM_DATA_BITS 64
#endif
#ifndef VM_INPUTS
#define VM_INPUTS 1
#endif
#ifndef VM_STALLABLE
#define VM_STALLABLE 0
#endif
#ifndef VM_EGRESSES
#define VM_EGRESSES 1
#endif
#ifndef VM_QUEUES
#define VM_QUEUES 16
#endif
#ifndef VM_CELLS
#define VM_CELLS 4096
#endif
#ifndef VM_FLOWS
#define VM_FLOWS 4096
#endif
#ifndef VM_CODEL
#define VM_CODEL 0
#endif
#ifndef VM_PIE
#define VM_PIE 0
#endif
#ifndef VM_DUALPI2
#define VM_DUALPI2 0
#endif
#ifndef VM_REPORTS
#define VM_REPORTS 0
#endif
#ifndef VM_FQ
#define VM_FQ 0
#endif
#ifndef VM_RULES
#define VM_RULES 0
#endif
#ifndef VM_VICTIMS
#define VM_VICTIMS 16
#endif
#ifndef VM_MAX_FRAME_BYTES
#define VM_MAX_FRAME_BYTES 9728
#endif
#ifndef VM_PRESET
#define VM_PRESET "lab"
#endif
