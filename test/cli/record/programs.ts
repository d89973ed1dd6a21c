import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import type { RecorderName } from '../../../lib/streams/record/names.js'
import { chooseRecorder } from '../../../lib/streams/record/recorders.js'
import { commandLine, shell, type Finished } from '../../support/commands.js'

/** A folder with the programs. */
export const folder = mkdtempSync(join(tmpdir(), 'heapflow-programs-'))

/** Programs to record, which do nothing else than what their names say. */
const PROGRAMS = {
  leaks: `int main(void) {
    char *kept = malloc(1000), *freed = malloc(2000);
    kept = realloc(kept, 3000);
    free(freed);
    puts("to standard output");
    return 3;
  }`,
  aligns: `int main(void) {
    free(aligned_alloc(64, 6400));
    free(valloc(6401));
    return 0;
  }`,
  threads: `static void *work(void *x) { for (int i = 0; i < 1000; i++) free(malloc(7000 + i)); return x; }
  int main(void) {
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(t + i, NULL, work, NULL);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    return 0;
  }`,
  forks: `int main(void) {
    char *both = malloc(1111);
    pid_t child = fork();
    if (child == 0) { free(both); for (int i = 0; i < 50; i++) both = malloc(2222); exit(both == NULL ? 1 : 7); }
    int status;
    waitpid(child, &status, 0);
    free(both);
    both = malloc(3333);
    return WEXITSTATUS(status) == 7 ? 3 : 1;
  }`,
  /* The child ends after the program. */
  outlives: `int main(void) {
    free(malloc(5000));
    if (fork() == 0) { usleep(300000); free(malloc(6000)); exit(7); }
    return 3;
  }`,
  killed: `int main(void) { for (int i = 0; i < 1000; i++) if (malloc(5000) == NULL) return 1; return raise(SIGKILL); }`,
  leaves: `int main(void) { for (int i = 0; i < 1000; i++) free(malloc(5000)); _exit(0); }`,
  closes: `int main(void) {
    for (int i = 3; i < 4096; i++) close(i);
    free(malloc(5000));
    /* So many that the number of the trace is among them. */
    for (int i = 0; i < 300; i++) if (open("own-file", O_CREAT | O_WRONLY | O_APPEND, 0600) < 0) return 1;
    if (fork() == 0) exit(0);
    wait(NULL);
    return 0;
  }`,
  /* Closes the descriptors from 3 to below a number. */
  reuses: `int main(int n, char **words) {
    for (int i = 3; i < atoi(words[1]); i++) close(i);
    free(malloc(5000));
    return 0;
  }`,
  /* Leaves a child that has its descriptors, and says its number. The child makes a file when it has called malloc. */
  daemon: `int main(void) {
    free(malloc(5000));
    pid_t child = fork();
    if (child == 0) {
      close(1); close(2); free(malloc(6000)); fclose(fopen("daemon.runs", "w")); alarm(120);
      for (;;) pause();
    }
    printf("%d\\n", child);
    return 4;
  }`,
  counts: `static volatile int hangups;
  static void count(int signal) { hangups++; }
  int main(void) {
    free(malloc(5000));
    signal(SIGHUP, count);
    signal(SIGINT, count);
    FILE *file = fopen("ready", "w");
    fclose(file);
    for (int i = 0; i < 10; i++) usleep(100000);
    file = fopen("hangups", "w");
    fprintf(file, "%d", hangups);
    fclose(file);
    return 0;
  }`,
  silent: `int main(void) { return 0; }`,
  waits: `static void end(int signal) { exit(40 + signal); }
  int main(void) { signal(SIGTERM, end); alarm(120); puts("ready"); fflush(stdout); free(malloc(5000)); for (;;) pause(); }`,
}
const HEADERS = ['fcntl', 'pthread', 'signal', 'stdio', 'stdlib', 'unistd', 'sys/wait'].map(
  (name) => `#include <${name}.h>\n`,
)

const hasCompiler = spawnSync('cc', ['--version']).error === undefined

/** Compiles a part of heapflow's own recorder, as hf-record does: CC may name a compiler and its first options. */
export function compileRecorder(...options: readonly string[]): boolean {
  const [program = 'cc', ...first] = (process.env['CC'] ?? '').split(' ').filter(Boolean)
  return spawnSync(program, [...first, ...options, '-ldl'], { stdio: ['ignore', 'inherit', 'pipe'] }).status === 0
}

/** Whether a recorder, and the compiler for the programs, is there, and may be used. */
export function can(name: RecorderName): boolean {
  try {
    chooseRecorder(name, false)
  } catch {
    return false
  }
  return hasCompiler && (name !== 'perf' || canTraceKernel())
}

function canTraceKernel(): boolean {
  return spawnSync('perf', ['record', '-q', '-a', '-e', 'kmem:kmalloc', '-o', '/dev/null', '--', 'true']).status === 0
}

/** A test that needs a recorder. */
export const testWith = (name: RecorderName) => test.skipIf(!can(name))

/** Compiles the programs of these names before the tests of the file, and removes them after those. */
export function usePrograms(...names: (keyof typeof PROGRAMS)[]): void {
  beforeAll(() => {
    // Another file of the same process has removed it.
    mkdirSync(folder, { recursive: true })
    if (!hasCompiler) return
    for (const name of names) compile(name)
  })
  afterAll(() => rmSync(folder, { recursive: true }))
}

/** Compiles a program, with further options of the compiler. */
export function compile(name: keyof typeof PROGRAMS, to: string = name, ...options: string[]): void {
  writeFileSync(join(folder, `${to}.c`), HEADERS.join('') + PROGRAMS[name])
  execFileSync('cc', ['-O0', '-w', '-pthread', ...options, '-o', join(folder, to), join(folder, `${to}.c`)])
}

const before = `cd ${folder} && export XDG_CACHE_HOME=${folder}/cache && `

/** Runs a command line among the programs, with a cache of its own. */
export function run(line: string): Promise<Finished> {
  return shell(`set -o pipefail; ${before}${line}`)
}

/** Starts a command among the programs, and waits until something comes from its standard output. */
export async function started(line: string): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', commandLine(`${before}exec ${line}`)], { stdio: ['ignore', 'pipe', 'pipe'] })
  await once(child.stdout, 'data')
  return child
}

export interface Row {
  readonly address?: string
  kind: string
  size?: number
  process?: number
  events?: number
  stack?: string[]
}

/** The records of NDJSON. */
export function rowsOf(stdout: Buffer | string): Row[] {
  return stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
}

export const sizesOf = (rows: readonly Row[]) => rows.map(({ size }) => size)
