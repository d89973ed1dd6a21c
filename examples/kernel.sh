#!/usr/bin/env bash
# Kernel files per CPU: written as the kernel had them, and merged again by sequence number.
source "$(dirname "$0")/support/commands.sh"

# Current kernels no longer have kmemtrace, so a program's threads stand for CPUs, and its calls for the kernel's.
replay-decode traces/replay/mstress-head.txt.gz |
  hf-map -e '({ ...event, cpu: Number(event.thread % 4n) })' |
  kmemtrace-encode -o debug/ 2> losses.log
ls debug

kmemtrace-decode debug | hf-stats --top 1 | sed -n '/^Summary/,/^$/p'
kmemtrace-decode debug/cpu1 debug/cpu3 2>&1 > /dev/null
