# Stands in for the Vivado commands that build.tcl uses, so that tclsh can run it where there is no Vivado:
#
#   tclsh stubs.tcl build.tcl ARGUMENTS OF BUILD.TCL
#
# A command that is not here, a switch that a command does not have, a switch without its value, a file that is not there, and a port that no
# file names end the run with a sentence. Switches are those of UG835 (Vivado Tcl commands), as far as they are named here. Each report is written as an empty file.
# Commands are printed in the order in which they came. SLACK in the environment is what the design has left, 0.1 ns without.

# name -> {switches that take a value} {switches that do not} {least and most of other arguments}
array set commands {
  set_part              {{} {-quiet -verbose} {1 1}}
  read_verilog          {{-library} {-sv -quiet -verbose} {1 999}}
  synth_design          {{-top -part -mode -flatten_hierarchy -directive -generic -verilog_define -include_dirs -shreg_min_size} {-retiming -no_iobuf -quiet} {0 0}}
  create_clock          {{-name -period -waveform} {-add -quiet} {0 1}}
  set_input_delay       {{-clock -reference_pin} {-clock_fall -max -min -add_delay -quiet} {2 2}}
  set_output_delay      {{-clock -reference_pin} {-clock_fall -max -min -add_delay -quiet} {2 2}}
  get_ports             {{-filter -of_objects} {-regexp -nocase -quiet} {0 1}}
  all_inputs            {{} {-quiet} {0 0}}
  all_outputs           {{} {-quiet} {0 0}}
  filter                {{} {-regexp -nocase -quiet} {2 2}}
  write_checkpoint      {{-cell} {-force -incremental_synth -quiet} {1 1}}
  opt_design            {{-directive} {-retarget -propconst -sweep -remap -quiet} {0 0}}
  place_design          {{-directive} {-no_timing_driven -quiet} {0 0}}
  phys_opt_design       {{-directive} {-fanout_opt -placement_opt -quiet} {0 0}}
  route_design          {{-directive} {-tns_cleanup -quiet} {0 0}}
  report_utilization    {{-file -hierarchical_depth -cells} {-hierarchical -append -quiet} {0 0}}
  report_timing_summary {{-file -max_paths -nworst -delay_type} {-report_unconstrained -append -quiet} {0 0}}
  report_methodology    {{-file} {-append -quiet} {0 0}}
  report_drc            {{-file -ruledecks -checks} {-append -quiet} {0 0}}
  report_route_status   {{-file} {-append -quiet} {0 0}}
  get_timing_paths      {{-max_paths -nworst -from -to} {-setup -hold -quiet} {0 0}}
  get_property          {{} {-quiet -min -max} {2 2}}
}

proc refuse {sentence} {
  puts stderr "stubs: $sentence"
  exit 3
}

proc stub {name words} {
  lassign $::commands($name) valued plain range
  set others {}
  set options {}
  for {set i 0} {$i < [llength $words]} {incr i} {
    set word [lindex $words $i]
    if {[string match -* $word] && ![string is double -strict $word]} {
      if {$word in $valued} {
        incr i
        if {$i >= [llength $words]} { refuse "$name: $word has no value" }
        dict set options $word [lindex $words $i]
      } elseif {$word ni $plain} {
        refuse "$name: no switch $word"
      }
    } else {
      lappend others $word
    }
  }
  lassign $range least most
  if {[llength $others] < $least || [llength $others] > $most} {
    refuse "$name: [llength $others] arguments beside its switches; legal are $least to $most"
  }
  puts "stubs: $name"
  if {$name eq "read_verilog"} {
    foreach file [concat {*}$others] {
      if {![file isfile $file]} { refuse "$name: no file $file" }
      set handle [open $file]
      append ::text [read $handle]
      close $handle
    }
  }
  if {$name eq "get_ports" && ![regexp "\\m$others\\M" $::text]} { refuse "$name: no port $others" }
  set written [expr {[dict exists $options -file] ? [dict get $options -file] : $name eq "write_checkpoint" ? [lindex $others 0] : ""}]
  if {$written ne ""} {
    if {![file isdirectory [file dirname $written]]} { refuse "$name: no folder for $written" }
    close [open $written w]
  }
  switch $name {
    get_property { return [expr {[info exists ::env(SLACK)] ? $::env(SLACK) : 0.1}] }
    get_ports - all_inputs - all_outputs - filter - get_timing_paths { return $name }
  }
}

foreach name [array names commands] { proc $name {args} "stub $name \$args" }
proc unknown {name args} { refuse "no command $name" }

set text ""
set script [lindex $argv 0]
set argv [lrange $argv 1 end]
source $script
