#!/usr/bin/env bash
# A custom trace format, defined in ten lines: a real trace is converted to it, read back, and read by a module that is made
# from the definition. docs/metatf.md explains it.
source "$(dirname "$0")/support/commands.sh"

step() {
  echo "\$ $1"
  eval "$1"
  echo
}

cp "$root/examples/blocks.dtd" .
# What is compiled imports heapflow, as it is installed.
mkdir node_modules
ln -s "$root" node_modules/heapflow
cat > threads.mjs << 'END'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { decode, recordsOf } from './blocks.js'

const bytes = new Map()
await pipeline(createReadStream(process.argv[2]), decode(), async (batches) => {
  for await (const batch of batches) {
    for (const { thread, size } of recordsOf(batch)) bytes.set(thread, (bytes.get(thread) ?? 0n) + (size ?? 0n))
  }
})
for (const [thread, sum] of bytes) console.log(`thread ${thread} asked for ${sum} bytes`)
END

step 'metatf-encode --dtd blocks.dtd traces/replay/mstress-head.txt.gz -o mstress.mtf 2>&1'
step 'metatf-decode mstress.mtf | head -n 4'
step 'gunzip < traces/replay/mstress-head.txt.gz > mstress.txt'
step 'metatf-decode mstress.mtf | replay-encode | cmp - mstress.txt && echo same bytes'
step 'metatf-decode mstress.mtf | hf-filter --size 64K.. | head -n 3'
step 'metatf-compile blocks.dtd -o blocks.js'
step 'node threads.mjs mstress.mtf'

echo 'Sizes in bytes, and with gzip:'
for file in mstress.txt mstress.mtf; do
  printf '%10s %10s  %s\n' "$(size "$file")" "$(gzip -6n < "$file" | wc -c)" "$file"
done
