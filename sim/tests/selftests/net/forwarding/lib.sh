# shellcheck shell=bash disable=SC1091,SC2034,SC2154 # variables are those of the scripts, and of net/lib.sh
# What the kernel's scripts call of net/forwarding/lib.sh, for a guest with one card and no cables. busywait, log_test and what else
# does not depend on the machine are the kernel's own, from net/lib.sh.
#
# A lane's representor carries no packets: frames come from the simulation, which the test at the other end of the guest's second serial line
# feeds. So hosts, bridges and VLANs are not there; the port under test, p5 of NUM_NETIFS=8 or p1, is the lane; VLAN 11 of the scripts, priority 1, is
# DSCP 8. A simulation is slow, so 1 Gbit/s is 10 Mbit/s.

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

declare -A NETIFS
for i in 1 2 3 4 5 6 7 8; do
	NETIFS[p$i]=none$i
done
((NUM_NETIFS == 1)) && NETIFS[p1]=$LANE || NETIFS[p5]=$LANE
MZ=send_frames

check_err()
{
	local err=$1; shift

	[[ $RET -eq 0 && $err -ne 0 ]] || return 0
	RET=$err
	retmsg=$1
}

check_fail()
{
	local err=$1; shift

	[[ $RET -eq 0 && $err -eq 0 ]] || return 0
	RET=1
	retmsg=$1
}

check_err_fail()
{
	if (($1)); then
		check_fail "$2" "$3"
	else
		check_err "$2" "$3"
	fi
}

qdisc_stats_get()
{
	tc -j -s qdisc show dev "$1" | jq '.[] | select(.handle == "'"$2"'") | '"$3"
}

# ecn_marked is what all queues of the lane have marked.
ethtool_stats_get()
{
	[[ $2 == ecn_marked ]] || return 1
	ethtool -S "$1" | awk '/\.ce_chosen\.packets:/ { sum += $2 } END { print sum + 0 }'
}

# Qdiscs of other ports than the lane's are of no matter.
tc()
{
	case " $* " in
	*" $LANE "*) command tc "${@/1gbit/10mbit}" ;;
	*" dev "*) ;;
	*) command tc "$@" ;;
	esac
}

ip()
{
	:
}

# A request to the test: one line, one line back.
ask()
{
	local answer

	echo "$@" >&7
	read -r answer <&7
}

# busybox has no milliseconds; net/lib.sh asks for nothing else.
date()
{
	echo $((${EPOCHREALTIME/./} / 1000))
}

sleep()
{
	ask run "$1"
}

# mausezahn's options that matter: -c frames (0: until it is killed), -p bytes, tos.
send_frames()
{
	local vlan=${1##*.} count=0 bytes=0 ecn=0

	while (($#)); do
		case $1 in
		-c) count=$2 ;;
		-p) bytes=$2 ;;
		tos=0x01) ecn=1 ;;
		esac
		shift
	done
	if ((count)); then
		ask send "$bytes" $((8 * (vlan - 10))) "$ecn" "$count"
	else
		ask start "$bytes" $((8 * (vlan - 10))) "$ecn"
	fi
}

start_traffic()
{
	send_frames "$1" -p 8000 -c 0
	sleep 1
}

start_tcp_traffic()
{
	send_frames "$1" -p 8000 -c 0 "${@:5}"
	sleep 1
}

stop_traffic()
{
	ask stop
}

ping_test()
{
	RET=$ksft_skip retmsg="no hosts" log_test "ping$3"
}

mac_get()
{
	echo 00:00:00:00:00:00
}

tests_run()
{
	local current_test

	for current_test in ${TESTS:-$ALL_TESTS}; do
		$current_test
	done
}

for name in pre_cleanup simple_if_init simple_if_fini mtu_set mtu_restore vlan_create vlan_destroy vrf_prepare vrf_cleanup setup_wait \
	bail_on_lldpad; do
	eval "$name() { :; }"
done
