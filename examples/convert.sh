#!/usr/bin/env bash
# One process converts between any two formats, found from first bytes and names; what the target cannot represent is reported, not dropped silently.
source "$(dirname "$0")/support/commands.sh"

# The text has no end mark and no indices; mpatrol's format has both, but cannot represent calloc's count.
hf-convert traces/replay/twolf-head.txt twolf.mtrc 2>&1
hf-convert traces/replay/twolf-head.txt twolf.hatf 2>&1
hf-convert traces/replay/twolf-head.txt twolf.ndjson
for file in traces/replay/twolf-head.txt twolf.mtrc twolf.hatf twolf.ndjson; do
  echo "$(basename "$file"): $(size "$file") bytes"
done

echo 'With --attributes HATF keeps everything, and the way back gives the same bytes:'
hatf-encode --attributes traces/replay/twolf-head.txt | hatf-decode | replay-encode | cmp - traces/replay/twolf-head.txt && echo same

echo 'With --strict the first loss is an error:'
hf-convert --strict traces/replay/twolf-head.txt strict.hatf 2>&1 || echo "exit $?"
