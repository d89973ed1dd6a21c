import { flag, type Command } from '../command.js'
import { EVENT_FLAGS, FROM_FLAG, WINDOW_FLAG } from '../flags.js'

export const merge: Command = {
  name: 'hf-merge',
  summary: 'merge several traces into one',
  operands: 'FILE...',
  description:
    'The events of all files are put in order by sequence number or time. Each file must be in that order itself, ' +
    'except for events that come a little late. Ties keep the order of the files. Events without the field stay ' +
    'after their predecessor. Sequence numbers may wrap; missing and repeated ones are reported, and so are events ' +
    'that stay out of order.\n' +
    'The merged trace has the format and layout of the files where they agree, and times in nanoseconds where they ' +
    'do not. If the files have different formats, its header lists them, so that hf-stats and others know which ' +
    'figures these formats do not show.\n' +
    'Processes and threads of different files may have the same ids: --process-offset, --number-processes and ' +
    '--thread-offset keep them apart. A recording of hf-record with several processes has no number for the ' +
    'first, and 2, 3 and so on for the others: --process-offset 1000 --number-processes makes these 1, 2 and 3 in ' +
    'the first file, and 1001, 1002 and 1003 in the second. If events without a process get a number that other ' +
    'events already have, hf-merge fails. Comments are not changed: "process 2" in a comment is still that of its ' +
    'own recording. Allocation indices (as of mpatrol) are dropped with a warning.\n' +
    'Files that hf-split --number made of one trace are put together exactly as that was, indices included. ' +
    'If a part is missing, a warning and the last event say how many events were lost. ' +
    'Without --number, parts keep their indices, but the order of events of equal time is lost. Whether all parts ' +
    'are there is not known then, so the header says that frees may be missing, unless the trace was split with ' +
    '--lifetimes. With --end-to-end the traces are concatenated.\n' +
    'A truncated file is merged up to its end, and the exit status is 1. One of the files may be -, for standard ' +
    'input. The output is NDJSON unless --to or the name after -o says otherwise.',
  memory:
    'for each file, what is read at once (64 kB, less with many files), its events, and the window, which is ' +
    'smaller where the names and call stacks in it take more than 4 MB, or 32 MB for all files. The model of a ' +
    'compact file takes 15 to 25 MB more. More than eight compact files are first decoded, one after the other, to a ' +
    'temporary file that no one else can read, of some 50 bytes for each event and its names, in the folder of TMPDIR.',
  flags: [
    flag('--by FIELD', 'Order by this field (default: sequence if the events have it, else time)', {
      values: ['sequence', 'time'],
    }),
    flag('--end-to-end', 'Concatenate the traces instead'),
    WINDOW_FLAG,
    flag('--thread-offset N', 'Add N times the number of the file, from 0, to thread ids'),
    flag('--process-offset N', 'Add N times the number of the file, from 0, to process ids'),
    flag(
      '--number-processes',
      'Give events without a process the number of their file, from 1; with --process-offset, 1 plus the offset',
    ),
    FROM_FLAG,
    ...EVENT_FLAGS,
  ],
  examples: {
    'hf-merge --by time --number-processes server.txt client.txt -o both.ndjson.gz':
      'two processes running at the same time',
    'hf-merge --by time --process-offset 1000 --number-processes a.hfrec b.hfrec -o both.ndjson.gz':
      'two recordings, each with several processes',
    'hf-merge --end-to-end monday.mtrc tuesday.mtrc -o week.mtrc': 'two traces in one file',
  },
  run: async (args) => (await import('./merge.run.js')).runMerge(args),
}
