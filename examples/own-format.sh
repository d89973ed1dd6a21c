#!/usr/bin/env bash
# A format of your own, from docs/formats.md, in five commands.
source "$(dirname "$0")/support/commands.sh"

own=$root/examples/own-format
utrace="--format-module $own/utrace.mjs"
hf-stats $utrace --section summary "$own/app.utrace"
hf-filter $utrace --kind alloc "$own/app.utrace" | tail -n 4
hf-verify $utrace "$own/app.utrace" 2>&1
hf-blocks $utrace --to csv "$own/app.utrace" | cut -d , -f 1-5

hf-convert $utrace "$own/app.utrace" app.mtrc 2>&1
echo 'And back, recognized by its name:'
hf-convert $utrace app.mtrc app.utrace 2>&1
cat app.utrace
