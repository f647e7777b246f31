# One block alone (out of context) through Vivado: synthesis, placement, routing, reports.
#
#   vivado -mode batch -source build.tcl -tclargs RTL_DIR TOP CLOCK PART PERIOD_NS OUT_DIR [NAME=VALUE ...]
#
#   RTL_DIR     the .sv and .v files of a lane or an application block, and what they include (`./vermilion vivado write DIR --preset PRESET`
#               writes them, and this line with all its arguments)
#   TOP         its top module
#   CLOCK       its one clock, `clock` or `clk`
#   PART        for instance xcku3p-ffvb676-2-e
#   PERIOD_NS   the clock's period, 4.0 for 250 MHz
#   OUT_DIR     gets synth.dcp, routed.dcp and the reports: utilization.rpt (by module), timing.rpt (the summary and the ten longest
#               paths of each kind), methodology.rpt, drc.rpt, route.rpt
#   NAME=VALUE  parameters of TOP, decimal
#
# The ports are not placed: no buffers, no I/O timing but a quarter of the period on either side, the reset's too. A run ends with status 1 if the routed
# design misses the period, and its reports are there all the same.

if {[llength $argv] < 6} {
  puts stderr "build.tcl: [llength $argv] arguments; wanted are RTL_DIR TOP CLOCK PART PERIOD_NS OUT_DIR, then NAME=VALUE"
  exit 2
}
set parameters [lassign $argv rtl top clock part period out]
if {![string is double -strict $period] || $period < 1.0 || $period > 100.0} {
  puts stderr "build.tcl: PERIOD_NS is $period; legal are 1.0 to 100.0"
  exit 2
}
set generics {}
foreach parameter $parameters {
  if {![regexp {^\w+=\d+$} $parameter]} {
    puts stderr "build.tcl: $parameter is no NAME=VALUE"
    exit 2
  }
  lappend generics -generic $parameter
}
set sources [lsort [glob -nocomplain -directory $rtl *.sv]]
set plain [lsort [glob -nocomplain -directory $rtl *.v]]
if {[llength $sources] == 0} {
  puts stderr "build.tcl: RTL_DIR $rtl holds no .sv file"
  exit 2
}
file mkdir $out

set_part $part
read_verilog -sv $sources
if {[llength $plain] > 0} { read_verilog $plain }
# Chains of fewer than eight registers stay flip-flops, of which there are more than enough: a shift register costs a LUT.
synth_design -top $top -part $part -include_dirs $rtl -mode out_of_context -flatten_hierarchy rebuilt -shreg_min_size 8 {*}$generics

create_clock -name $clock -period $period [get_ports $clock]
set data_in [filter [all_inputs] "NAME != \"$clock\""]
set_input_delay -clock $clock [expr {$period / 4.0}] $data_in
set_output_delay -clock $clock [expr {$period / 4.0}] [all_outputs]
write_checkpoint -force [file join $out synth.dcp]

opt_design
place_design
phys_opt_design
route_design
phys_opt_design
write_checkpoint -force [file join $out routed.dcp]

report_utilization -hierarchical -file [file join $out utilization.rpt]
report_timing_summary -max_paths 10 -report_unconstrained -file [file join $out timing.rpt]
report_methodology -file [file join $out methodology.rpt]
report_drc -file [file join $out drc.rpt]
report_route_status -file [file join $out route.rpt]

set slack [get_property SLACK [lindex [get_timing_paths -max_paths 1 -setup] 0]]
puts "vermilion: $top on $part at $period ns: slack $slack ns"
if {$slack < 0} { exit 1 }
exit 0
