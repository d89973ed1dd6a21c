// Whole commands beside the readers that others have, in turns, on recordings of a program made for this and on
// generated traces. Prints a table in Markdown: ratios of processor time and of wall time, and what is wanted.
//
//   node bench/whole.mjs [--rounds N] [--only TEXT]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLine, node, quote } from './commands.mjs'
import { generate } from './generate.mjs'
import { describeMachine } from './machine.mjs'
import { table } from './markdown.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } })

const folder = mkdtempSync(join(tmpdir(), 'heapflow-whole-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
// Reading certificates would take Node longer than the rest of its start.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
const shell = (line) => execFileSync('bash', ['-c', line], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })

/** Calls at up to 12 frames of changing functions; half of the places for blocks are taken. */
const PROGRAM = `#include <stdint.h>
#include <stdlib.h>
typedef void *(*function)(int, size_t);
static function all[8];
#define F(n) __attribute__((noinline)) static void *f##n(int d, size_t z) { \\
  void *p = d > 0 ? all[(d * (2 * n + 1)) & 7](d - 1, z) : malloc(z); __asm__ volatile("" : : "r"(p)); return p; }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
int main(int count, char **words) {
  long n = atol(words[1]), places = atol(words[2]);
  function some[] = { f0, f1, f2, f3, f4, f5, f6, f7 };
  for (int i = 0; i < 8; i++) all[i] = some[i];
  void **blocks = calloc(places, sizeof(void *));
  uint64_t r = 88172645463325252u;
  for (long i = 0; i < n; i++) {
    r ^= r << 13; r ^= r >> 7; r ^= r << 17;
    void **at = &blocks[(r >> 20) % places];
    if (*at) { free(*at); *at = NULL; }
    else *at = all[r & 7]((r >> 4) % 12, (r >> 8) % 64 == 0 ? r >> 52 : 16 + ((r >> 14) & 31) * 8);
  }
  return count == 0;
}
`
const has = (name) => shell(`command -v ${name} || true`) !== ''
const INTERPRET = has('heaptrack')
  ? shell('echo "$(dirname "$(command -v heaptrack)")"/../lib/heaptrack/libexec/heaptrack_interpret').trim()
  : ''
const hasHeaptrack = INTERPRET !== '' && has('heaptrack_print') && has('zstd')

if (hasHeaptrack) {
  writeFileSync(join(folder, 'program.c'), PROGRAM)
  shell('cc -O1 -g -o program program.c')
  for (const [name, events, places] of [
    ['1', 1e6, 5e4],
    ['4', 4.4e6, 1.6e6],
    ['20', 2e7, 2e5],
  ])
    shell(
      `heaptrack -r -o ${name} ./program ${events} ${places} &&
       zstd -dc ${name}.raw.zst | ${quote(INTERPRET)} 2> /dev/null | zstd -q > ${name}.zst`,
    )
}
await generate(join(folder, '4.mtrc'), 4e6)
await generate(join(folder, 'small.mtrc'), 1400)
shell(`${commandLine('hf-convert', '4.mtrc 4.mtrace')} 2> /dev/null`)

const stats = (file) => commandLine('hf-stats', file)
const piped = (flag) =>
  [commandLine('mtrc-decode', `${flag} 4.mtrc`), commandLine('hf-filter', flag), commandLine('hatf-encode')].join(' | ')
const NOTHING = `${quote(node)} -e 0`
const faster = (least) => ({ least, says: `at least ${least} times as fast` })
const longer = (most) => ({ most, says: `at most ${most} times the time` })

/** What is measured, the other, and what is wanted. */
const ROWS = [
  ...(hasHeaptrack
    ? [
        ...[
          ['1', 0.6],
          ['4', 1],
          ['20', 1.2],
        ].map(([million, least]) => [
          `hf-stats, heaptrack interpreted, ${million} M events`,
          stats(`${million}.zst`),
          'heaptrack_print',
          `heaptrack_print ${million}.zst`,
          faster(least),
        ]),
        [
          'hf-stats, heaptrack raw, 4 M events',
          stats('4.raw.zst'),
          'heaptrack_interpret and heaptrack_print',
          `zstd -dc 4.raw.zst | ${quote(INTERPRET)} > interpreted && heaptrack_print interpreted`,
          faster(3),
        ],
      ]
    : []),
  ...(has('mtrace')
    ? [['hf-stats, glibc-mtrace, 4 M events', stats('4.mtrace'), 'mtrace', 'mtrace 4.mtrace || true', faster(10)]]
    : []),
  ...[
    ['hf-profile --to pprof', 'MTRC', '4.mtrc'],
    ['hf-report', 'MTRC', '4.mtrc'],
    ...(hasHeaptrack ? [['hf-report', 'heaptrack interpreted', '4.zst']] : []),
  ].map(([line, format, trace]) => {
    const [name, ...flags] = line.split(' ')
    return [
      `${line}, ${format}, 4 M events`,
      commandLine(name, `${flags.join(' ')} ${trace}`),
      'hf-stats',
      stats(trace),
      longer(1.5),
    ]
  }),
  ['three processes, NDJSON', piped(''), 'one', commandLine('hf-filter', '--to hatf 4.mtrc'), longer(2.5)],
  ['three processes, Arrow', piped('-u'), 'one', commandLine('hf-filter', '--to hatf 4.mtrc'), longer(1.6)],
  ...[
    'mtrc-decode',
    'hf-filter',
    'hf-stats',
    'hf-blocks',
    'hf-profile --to collapsed',
    'compact-encode',
    'hf-report',
  ].map((line) => [
    `${line}, 20 KB`,
    commandLine(line.split(' ')[0], `${line.split(' ').slice(1).join(' ')} small.mtrc`),
    'node -e 0',
    NOTHING,
    longer(1.4),
  ]),
]

/** Seconds of wall and of processor time, all processes together, and the most that one had resident, in MB. */
function timed(line) {
  const text = shell(`/usr/bin/time -f '%e %U %S %M' sh -c ${quote(line)} 2>&1 > /dev/null | tail -n 1`)
  const [wall, user, system, resident] = text.trim().split(' ').map(Number)
  return { wall, processor: user + system, resident: resident / 1024 }
}

/** Short commands are repeated, because the system counts hundredths of a second. */
const repeated = (line, name) => (name.endsWith('KB') ? `for i in 1 2 3 4 5 6 7 8 9 10; do ${line}; done` : line)
const median = (some) => some.toSorted((a, b) => a - b)[some.length >> 1]

const cells = []
for (const [name, line, other, otherLine, { least, most, says }] of ROWS) {
  if (values.only !== undefined && !name.includes(values.only)) continue
  const runs = []
  for (let round = 0; round <= Number(values.rounds); round++)
    runs.push([timed(repeated(line, name)), timed(repeated(otherLine, name))])
  runs.shift()
  const ratio = (what) =>
    median(runs.map(([own, others]) => (least === undefined ? own[what] / others[what] : others[what] / own[what])))
  const seconds = (i) => (median(runs.map((run) => run[i].processor)) / (name.endsWith('KB') ? 10 : 1)).toFixed(3)
  const isMet = least === undefined ? ratio('processor') <= most : ratio('processor') >= least
  const resident = median(runs.map(([own]) => own.resident)).toFixed(0)
  cells.push([
    name,
    other,
    seconds(0),
    seconds(1),
    ratio('processor').toFixed(2),
    ratio('wall').toFixed(2),
    says,
    isMet ? 'met' : 'missed',
    resident,
  ])
}
const { cpu, cores, system, node: version, date, load } = describeMachine()
console.log(
  `${cpu}, ${cores} cores, ${system}, Node ${version}, ${date}, load ${load}; ` +
    `medians of ${values.rounds} runs in turns\n`,
)
console.log(
  table(['command', 'beside', 'seconds', 'beside', 'ratio', 'of wall time', 'wanted', '', 'MB resident'], cells),
)
