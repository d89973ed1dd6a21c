#!/usr/bin/env bash
# A truncated trace: every event before the cut arrives, every stage says what it saw, and none of them exits with 0.
source "$(dirname "$0")/support/commands.sh"

gunzip < traces/mtrc/git.mtrc.gz > git.mtrc
head -c 1000000 git.mtrc > cut.mtrc

status=0
mtrc-decode cut.mtrc 2> decode.log > cut.ndjson || status=$?
echo "mtrc-decode: exit $status, the last event that came:"
tail -n 1 cut.ndjson
cat decode.log

# The file has no end record, so the next stage knows, too, even if it runs a day later.
status=0
hf-filter --kind realloc cut.ndjson 2> filter.log | tail -n 1 || status=$?
echo "hf-filter: exit $status"
cat filter.log
