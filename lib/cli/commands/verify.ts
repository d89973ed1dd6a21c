import { FAULTS } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
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
    flag('--allow FAULT', 'Ignore this fault; do not report or repair it', { repeat: true, values: FAULTS }),
    flag('--max-size BYTES', 'Allocations of more than this many bytes are absurd (default 2^47)'),
    flag('--places N', `List the first N places of each fault (default ${PLACES})`),
    flag('--json', 'Write the report as JSON; its error says why the trace could not be read'),
    flag('--repair', 'Write a corrected trace to the file given by -o'),
    flag('--window N', `With --repair: look for a late free among the next N events (default ${REPAIR_WINDOW})`),
    ...EVENT_FLAGS,
  ],
  examples: {
    'hf-verify app.mtrc': 'check a trace',
    'hf-verify --allow zero-size --places 3 --json dump.zip | jq .faults': 'count the faults of an Android dump',
    'hf-verify --repair -o repaired.txt dump.txt && hf-verify repaired.txt': 'repair it',
  },
  run: async (args) => (await import('./verify.run.js')).runVerify(args),
}
