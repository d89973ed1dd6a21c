#!/usr/bin/env bash
# A file for each thread. With --lifetimes a free goes where its block was allocated, whichever thread called it.
source "$(dirname "$0")/support/commands.sh"

hf-split --by thread --lifetimes -o 'thread-{}.txt' traces/replay/mstress-head.txt.gz

for file in thread-*.txt; do
  echo "$file: $(($(wc -l < "$file"))) events, the first: $(head -n 1 "$file")"
done
