#!/usr/bin/env bash
# What is in a trace, for people and for programs.
source "$(dirname "$0")/support/commands.sh"

hf-stats --top 3 --section summary --section peak --section leaks --section temporary traces/mtrc/git.mtrc.gz
hf-stats --section timeline --timeline 5 --tsv traces/mtrc/git.mtrc.gz
hf-stats --json traces/mtrc/git.mtrc.gz | tr ',' '\n' | grep '"events"' | head -n 1
hf-stats --mpatrol traces/mtrc/git.mtrc.gz
