#!/usr/bin/env bash
# What is in a trace, for people and for programs.
source "$(dirname "$0")/support/commands.sh"

hf-stats --top 3 traces/mtrc/git.mtrc.gz | sed -n '/^Summary/,/^Events/p; /bytes live at the end/,/^$/p'
hf-stats --json traces/mtrc/git.mtrc.gz | tr ',' '\n' | grep '"events"' | head -n 1
hf-stats --mpatrol traces/mtrc/git.mtrc.gz
