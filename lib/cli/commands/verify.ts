import { FAULTS } from '../../transforms/option-values.js'
import type { Command } from '../command.js'
import { PLACES, REPAIR_WINDOW } from '../defaults.js'
import { EVENT_FLAGS } from '../flags.js'

export const verify: Command = {
  name: 'hf-verify',
  summary: 'check a trace for invalid and double frees, overlaps and more; repair it',
  operands: '[FILE]',
  description:
    'Checks what the events say, beyond the bytes that every command checks: frees and reallocs of blocks that are ' +
    'not live (unknown-free), or were freed a short while ago (double-free); allocations where a block is live ' +
    '(live-address) or that overlap one (overlap), of 0 bytes (zero-size) or of more than any address space has ' +
    '(absurd-size); times and sequence numbers that go backwards (time-backwards); a truncated trace (missing-end). ' +
    'Prints the number of each and the first occurrences. Exits with 1 if any are found. If the recorder lost ' +
    'events, the first line says so: that is no fault of the trace, but may cause others, or hide them.\n' +
    'With --repair, writes a corrected trace that passes hf-verify to the file given by -o. A free that was ' +
    'recorded after its address was reused, as happens in programs with several threads, is moved before the reuse. ' +
    'Other blocks in the way of an allocation get a free; frees of blocks that are not live and allocations of ' +
    'absurd size are dropped; sizes of 0 become 1; times that go backwards, and the numbers after what was moved, ' +
    'are set. Reports how often each repair was applied, and exits with 0.',
  exitStatus: {
    '0': 'Nothing was found, or a corrected trace was written.',
    '1': 'Faults were found; or bad input or I/O error.',
  },
  memory: 'grows with the live blocks (100 to 200 bytes each).',
  flags: [
    {
      name: 'allow',
      value: 'FAULT',
      help: 'Ignore this fault; do not report or repair it',
      repeat: true,
      values: FAULTS,
    },
    { name: 'max-size', value: 'BYTES', help: 'Allocations of more than this many bytes are absurd (default 2^47)' },
    { name: 'places', value: 'N', help: `List the first N places of each fault (default ${PLACES})` },
    { name: 'json', help: 'Write the report as JSON; its error says why the trace could not be read' },
    { name: 'repair', help: 'Write a corrected trace to the file given by -o' },
    {
      name: 'window',
      value: 'N',
      help: `With --repair: look for a late free among the next N events (default ${REPAIR_WINDOW})`,
    },
    ...EVENT_FLAGS,
  ],
  examples: [
    { command: 'hf-verify app.mtrc', means: 'check a trace' },
    {
      command: 'hf-verify --allow zero-size --places 3 --json dump.zip | jq .faults',
      means: 'count the faults of an Android dump',
    },
    { command: 'hf-verify --repair -o repaired.txt dump.txt && hf-verify repaired.txt', means: 'repair it' },
  ],
  run: async (args) => (await import('./verify.run.js')).runVerify(args),
}
