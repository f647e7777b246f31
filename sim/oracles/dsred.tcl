# P2's open traffic through ns-2's dsRED: `./vermilion oracle ns2-dsred`.
#
#   ns dsred.tcl SEED SECONDS MODE MIN0 MAX0 P0 MIN1 MAX1 P1 YELLOW_GAP YELLOW_START GREEN_START
#
# MODE is RIO-C or WRED; thresholds in packets; code points 10 (green) and 12 (yellow). Times in seconds. Green comes in bursts of 120 ms each
# 2.12 s, a packet each 0.8 ms. Prints for each colour the packets that came, those that were dropped, and the mean of its average as
# its packets met it, read a microsecond after each.
lassign $argv seed seconds mode min0 max0 p0 min1 max1 p1 gap yellow green
set bytes 942
set ns [new Simulator]
$defaultRNG seed $seed
set core [$ns node]
set sink [$ns node]
$ns simplex-link $core $sink 1.7Mb 1ms dsRED/core
$ns simplex-link $sink $core 10Mb 1ms DropTail
set queue [[$ns link $core $sink] queue]
$queue set limit_ 1000000
$queue set numQueues_ 1
$queue setNumPrec 2
$queue setMREDMode $mode
$queue addPHBEntry 10 0 0
$queue addPHBEntry 12 0 1
$queue meanPktSize 170
$queue configQ 0 0 $min0 $max0 $p0 0.002
$queue configQ 0 1 $min1 $max1 $p1 0.002

proc source {prio interval} {
    global ns core sink bytes
    set agent [new Agent/UDP]
    $agent set packetSize_ $bytes
    $agent set prio_ $prio
    $ns attach-agent $core $agent
    set null [new Agent/Null]
    $ns attach-agent $sink $null
    $ns connect $agent $null
    set traffic [new Application/Traffic/CBR]
    $traffic set packetSize_ $bytes
    $traffic set interval_ $interval
    $traffic attach-agent $agent
    return $traffic
}
set steady [source 12 $gap]
$ns at $yellow "$steady start"
set bursts [source 10 0.0008]
for {set at $green} {$at < $seconds} {set at [expr {$at + 2.12}]} {
    $ns at $at "$bursts start"
    $ns at [expr {$at + 0.1199}] "$bursts stop"
    $ns at [expr {$at + 0.000001}] "sample 0 0.0008 [expr {$at + 0.1199}]"
}
$ns at [expr {$yellow + 0.000001}] "sample 1 $gap $seconds"
array set sums {0 0 1 0}
array set samples {0 0 1 0}
proc sample {prec gap end} {
    global ns queue sums samples
    set sums($prec) [expr {$sums($prec) + [$queue getAverageV 0 $prec]}]
    incr samples($prec)
    set next [expr {[$ns now] + $gap}]
    if {$next < $end} { $ns at $next "sample $prec $gap $end" }
}
$ns at $seconds finish
proc finish {} {
    global queue sums samples
    foreach code {10 12} prec {0 1} {
        set came [$queue getStat pkts $code]
        set lost [expr {[$queue getStat drops $code] + [$queue getStat edrops $code]}]
        puts "$came $lost [expr {$sums($prec) / $samples($prec)}]"
    }
    exit 0
}
$ns run
