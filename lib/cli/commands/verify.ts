import { FAULTS } from '../../transforms/choices.js'
import type { Command } from '../command.js'
import { PLACES, REPAIR_WINDOW } from '../defaults.js'
import { OUTPUT_FLAGS, STRICT_FLAG, TO_FLAG } from '../flags.js'

export const verify: Command = {
  name: 'hf-verify',
  summary: 'check that a trace makes sense, and mend one that does not',
  operands: '[FILE]',
  description:
    'Checks what the events say, beyond the bytes that every command checks: frees and reallocs of blocks that are not live (unknown-free), or were freed a short while ago ' +
    '(double-free); allocations where a block is live (live-address) or that run into one (overlap), of 0 bytes (zero-size) or of more than there is (absurd-size); ' +
    'times and sequence numbers that go backwards (time-backwards); a trace that is cut off (missing-end). Tells how many there are of each and where the first ones are; ' +
    'the exit status is 1 if there are any.\n' +
    'With --repair a mended trace is written to the file of -o, in which it finds nothing any more. A free that was recorded behind the reuse of its address, as happens in ' +
    'programs with several threads, is moved before it. Other blocks in the way of an allocation get a free; frees of blocks that are not live and allocations of absurd size ' +
    'are left out; sizes of 0 become 1; times that go backwards, and the numbers behind what was moved, are set. How often it did what is told; the exit status is 0 then.',
  memory: 'grows with the live blocks (100 to 160 bytes each).',
  flags: [
    { name: 'allow', value: 'FAULT', help: 'Do not take this for a fault, nor mend it', repeat: true, values: FAULTS },
    { name: 'max-size', value: 'BYTES', help: 'Allocations of more than this many bytes are absurd (default 2^47)' },
    { name: 'places', value: 'N', help: `Tell the first N places of each fault (default ${PLACES})` },
    { name: 'json', help: 'Write the report as JSON' },
    { name: 'repair', help: 'Write a mended trace to the file of -o' },
    {
      name: 'window',
      value: 'N',
      help: `With --repair: look for a late free among the next N events (default ${REPAIR_WINDOW})`,
    },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf-verify app.mtrc', means: 'check a trace' },
    {
      command: 'hf-verify --allow zero-size --places 3 --json dump.zip | jq .faults',
      means: 'count the faults of an Android dump',
    },
    { command: 'hf-verify --repair -o mended.txt dump.txt && hf-verify mended.txt', means: 'mend it' },
  ],
  run: async (args) => (await import('./verify.run.js')).runVerify(args),
}
