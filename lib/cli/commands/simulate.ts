import { CLASS_RULES, COALESCING, GLIBC, LIST_ORDERS, POLICIES } from '../../transforms/simulate/policies.js'
import type { Command } from '../command.js'
import { OUTPUT_FLAGS, STRICT_FLAG, TO_FLAGS } from '../flags.js'

const POLICY = 'Options of the policy'

export const simulate: Command = {
  name: 'hf-simulate',
  summary: 'place the blocks of a trace as another allocator would',
  operands: '[FILE]',
  description:
    'Simulates a policy of allocation: which address each block would have, and how much memory the heap would take. ' +
    'The policies, their options and the figures: docs/allocators.md.\n' +
    'Without -o, --to and --arrow the output is figures of the heap: its size, internal and external fragmentation, ' +
    'and the lengths of searches. With one of them it is the trace with the simulated addresses, which every other ' +
    'command reads. The policy ideal has no addresses.\n' +
    'Each process has a heap of its own; ptmalloc is simulated for one process. Frees of blocks that are not live are counted, and lose their address. ' +
    'A block whose address is allocated again is freed before.\n' +
    'The input may be in any format whose events say which block they are about. If it is truncated, the figures of ' +
    'the part that was read are printed before the error.',
  memory: 'grows with the live blocks (100 to 650 bytes each), with --compare for each policy.',
  flags: [
    { name: 'policy', value: 'NAME', help: 'Simulate this policy', values: POLICIES },
    {
      name: 'compare',
      value: 'NAME',
      help: 'Show one table of several policies, or of all, with the default options',
      repeat: true,
      values: ['all', ...POLICIES],
    },
    { name: 'json', help: 'Write the figures as JSON, also over time and by size' },
    {
      name: 'list',
      value: 'ORDER',
      help: 'Of first-fit: the order in which free blocks are examined (default address)',
      values: LIST_ORDERS,
      group: POLICY,
    },
    {
      name: 'coalescing',
      value: 'WHEN',
      help: 'Of first-fit, next-fit, best-fit: merge free blocks at once (default), or when a search fails',
      values: COALESCING,
      group: POLICY,
    },
    {
      name: 'classes',
      value: 'LIST',
      help:
        `Of segregated: the size classes, as sizes in bytes with commas between them, or a rule: ` +
        `${CLASS_RULES.join(', ')} (default jemalloc)`,
      group: POLICY,
    },
    {
      name: 'trim',
      value: 'BYTES',
      help: 'Of first-fit, next-fit, best-fit: return free memory at the end of the heap from BYTES on (default never)',
      group: POLICY,
    },
    {
      name: 'header',
      value: 'BYTES',
      help: 'The bytes before each block (default 8 for first-fit, next-fit, best-fit, otherwise 0)',
      group: POLICY,
    },
    { name: 'alignment', value: 'BYTES', help: 'The alignment of all blocks (default 16)', group: POLICY },
    {
      name: 'smallest',
      value: 'BYTES',
      help: 'The smallest block, with its header (default 32 for first-fit, next-fit, best-fit, otherwise 16)',
      group: POLICY,
    },
    { name: 'page', value: 'BYTES', help: 'The size of a page (default 4K)', group: POLICY },
    {
      name: 'glibc',
      value: 'VERSION',
      help: `Of ptmalloc: the version of glibc, from 2.23 to 2.43 (default ${GLIBC})`,
      group: POLICY,
    },
    ...OUTPUT_FLAGS,
    ...TO_FLAGS,
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf-simulate --compare all app.mtrc', means: 'which policy needs how much memory' },
    { command: 'hf-simulate --policy best-fit --json app.mtrc', means: 'all figures of one policy' },
    {
      command: 'hf-simulate --policy segregated --classes 16,32,48,64,128 app.mtrc -o classes.mtrc',
      means: 'the trace as it would be with these size classes',
    },
  ],
  run: async (args) => (await import('./simulate.run.js')).runSimulate(args),
}
