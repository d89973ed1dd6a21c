// What recording costs: programs without a recorder, with heapflow's own to each kind of file, and with `heaptrack -r`,
// in turns. Prints a table in Markdown of seconds of wall and of processor time, and ratios to heaptrack.
//
//   node bench/record.mjs [--rounds N] [--only PROGRAM]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLine } from './commands.mjs'
import { describeMachine } from './machine.mjs'
import { table } from './markdown.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } })

const folder = mkdtempSync(join(tmpdir(), 'heapflow-record-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A million calls of malloc and free at 24 frames. */
const MICRO = `#include <stdlib.h>
static void *at(int depth) {
  if (depth > 0) { void *last = at(depth - 1); __asm__ volatile(""); return last; }
  void *volatile last;
  for (int i = 0; i < 1000000; i++) { last = malloc(100); free(last); }
  return last;
}
int main(void) { return at(24) == NULL; }
`
/** The same number of calls by functions of changing depth, with a thousand live blocks. */
const CHURN = `#include <stdlib.h>
static void *at(int depth, int i) {
  if (depth > 0) { void *made = at(depth - 1, i); __asm__ volatile(""); return made; }
  return malloc(16 + i % 200);
}
int main(void) {
  static void *live[1000];
  for (int i = 0; i < 1000000; i++) { int k = (int)(i * 7919u % 1000); free(live[k]); live[k] = at(16 + i % 16, i); }
  return 0;
}
`
const CPP = `#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
std::map<std::string, std::vector<int>> a; std::unordered_map<int, std::map<int, std::string>> b;
bool matches(const std::string &text) { return std::regex_match(text, std::regex("[a-z]+([0-9]*)")); }
void fill() { for (int i = 0; i < 99; i++) { a[std::to_string(i)].push_back(i); b[i][i] = "x"; } }
`
const PYTHON =
  'import json; d = [{"a": i, "b": str(i), "c": [i] * 5} for i in range(40000)]; [json.loads(json.dumps(d)) for _ in range(3)]'
const PERL =
  'my %h; for my $i (1..400000) { $h{$i % 5000} = [$i, "x$i"]; push @{$h{"k" . $i % 100}}, "v$i" if $i % 3 == 0 }'
const SQL =
  'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into t select i, hex(i) from n; create index x on t(b); select count(*) from t a join t b on a.b = b.b;'
const NODE =
  'const a = []; for (let i = 0; i < 3e4; i++) a.push(Buffer.alloc(i % 9000), { i }); JSON.parse(JSON.stringify(a.slice(0, 200)))'

writeFileSync(join(folder, 'micro.c'), MICRO)
writeFileSync(join(folder, 'churn.c'), CHURN)
writeFileSync(join(folder, 'cpp.cc'), CPP)
const inFolder = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
for (const name of ['micro', 'churn'])
  execFileSync('cc', ['-O1', '-g', '-fno-optimize-sibling-calls', '-o', name, `${name}.c`], inFolder)

/** Where a program is: what is found first may be a script. */
const real = (line) => execFileSync('sh', ['-c', line], inFolder).trim()
const has = (name) => real(`command -v ${name} || true`) !== ''
const shellQuote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** @type {Record<string, () => string>} command lines by name */
const PROGRAMS = {
  'malloc and free at 24 frames': () => './micro',
  'malloc at changing depths': () => './churn',
  'git log --stat': () => `git -C ${shellQuote(join(import.meta.dirname, '..'))} log --stat`,
  sqlite3: () => `sqlite3 :memory: ${shellQuote(SQL)}`,
  perl: () => `perl -e ${shellQuote(PERL)}`,
  python3: () => `${real('python3 -c "import sys; print(sys.executable)"')} -c ${shellQuote(PYTHON)}`,
  node: () => `${shellQuote(process.execPath)} -e ${shellQuote(NODE)}`,
  'cc1plus -O1': () => `${real('c++ -print-prog-name=cc1plus')} -quiet -O1 -o cpp.s cpp.ii`,
}
execFileSync('sh', ['-c', 'c++ -E -o cpp.ii cpp.cc'], inFolder)

/** The ways to record, with the file that each writes. */
const WAYS = {
  none: (line) => [line],
  '.hfrec': (line) => [`${commandLine('hf-record', '-o app.hfrec')} -- ${line}`, 'app.hfrec'],
  '.ndjson.gz': (line) => [`${commandLine('hf-record', '-o app.ndjson.gz')} -- ${line}`, 'app.ndjson.gz'],
  '.hfc': (line) => [`${commandLine('hf-record', '-o app.hfc')} -- ${line}`, 'app.hfc'],
  'heaptrack -r': (line) => [`heaptrack -r -o heaptrack ${line}`, 'heaptrack.raw.zst'],
}

/** @returns {{ wall: number, processor: number, bytes: number }} seconds, and the size of the file */
function timed([line, file]) {
  const env = { ...process.env, PYTHONMALLOC: 'malloc', PERL_HASH_SEED: '0' }
  const script = `TIMEFORMAT='%R %U %S'; { time { ${line} > /dev/null 2> /dev/null; } } 2>&1`
  const text = execFileSync('bash', ['-c', script], { ...inFolder, env })
  const [wall, user, system] = text.trim().split(' ').map(Number)
  const bytes = file === undefined ? 0 : statSync(join(folder, file)).size
  for (const name of readdirSync(folder)) if (/^(?:app|heaptrack)\./.test(name)) rmSync(join(folder, name))
  return { wall, processor: user + system, bytes }
}

const median = (some) => some.toSorted((a, b) => a - b)[some.length >> 1]

const ways = Object.entries(WAYS).filter(([name]) => name !== 'heaptrack -r' || has('heaptrack'))
const rows = []
for (const [name, lineOf] of Object.entries(PROGRAMS)) {
  if (values.only !== undefined && !name.includes(values.only)) continue
  const line = lineOf()
  if (!has(line.split(' ')[0])) continue
  const runs = Object.fromEntries(ways.map(([way]) => [way, []]))
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [way, of] of ways) runs[way].push(timed(of(line)))
  const wall = (way) => median(runs[way].map((run) => run.wall))
  const processor = (way) => median(runs[way].map((run) => run.processor))
  const other = runs['heaptrack -r'] && 'heaptrack -r'
  const cell = (way) => `${wall(way).toFixed(2)} / ${processor(way).toFixed(2)}`
  const beyond = (way) => processor(way) - processor('none')
  rows.push([
    name,
    ...ways.map(([way]) => cell(way)),
    other ? (wall('.hfrec') / wall(other)).toFixed(2) : '',
    other ? (beyond('.hfrec') / beyond(other)).toFixed(2) : '',
    other ? (wall('.ndjson.gz') / wall(other)).toFixed(2) : '',
    other ? (wall('.hfc') / wall(other)).toFixed(2) : '',
    ...['.hfrec', 'heaptrack -r'].map((way) => ((runs[way]?.[0].bytes ?? 0) / 1e6).toFixed(1)),
  ])
}
const { cpu, cores, system, node, date, load, commit } = describeMachine()
console.log(
  `${cpu}, ${cores} cores, ${system}, Node ${node}, ${date}, load ${load}, ${commit}; medians of ${values.rounds} runs in turns\n`,
)
const head = ['wall / processor seconds', ...ways.map(([way]) => way)]
console.log(table([...head, '.hfrec', 'its own share', '.ndjson.gz', '.hfc', '.hfrec MB', 'heaptrack MB'], rows))
