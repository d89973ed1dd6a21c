/**
 * Checks the language and the lines of every text file of the repository: `npm run lint`. The rules of words are those
 * of the table in CONTRIBUTING.md, as far as a program can judge them.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const MAX_COLUMNS = 120

/** By the first column of the table, what its words look like; null where the meaning of a sentence decides. */
export const WORDS = {
  'who, somebody, nobody': /\b(some|no)body\b/i,
  'behind (in a sequence)': null,
  'but for': /\bbut for\b(?!\s+(the one that it runs|what follows))/i,
  'for (giving a reason)': null,
  'tell, say (of a program)': /\b(ones|others) are (not|no longer) (told|said)\b/i,
  mend: /\bmend(s|ed|ing)?\b/i,
  blanks: /\bblanks\b/i,
  'titles (of columns)': /\b(row of|column) titles\b/i,
  'has no place for': /\bno place for\b/i,
  'break off, cut': /\b(break|breaks|broke|broken|breaking) off\b/i,
  anew: /\banew\b/i,
  "of one's own": /\bof one's own\b/i,
  'so many, as many as there are': /\bas many as there are\b/i,
  'what is live': /\bwhat is live\b/i,
  'the life of a block': /\bthe life of (a|the|each|every|its|all)?\s*(whole |large )?blocks?\b/i,
}

/** Files whose words or lines are data, generated, or others'. */
const NOT_PROSE = [
  /^test\/(golden|fixtures|allocators\/recordings)\//,
  /^(package-lock\.json|LICENSE|CONTRIBUTING\.md|scripts\/lint-text\.mjs|test\/lint-text\.test\.ts)$/,
  /^bench\/(results\/|reference\.json)/,
  /\.(out|ndjson|png|svg|dtd|gz|zst|xz|zip|mtrc|hatf|hfc|hfrec|bin|arrows|parquet|json)$/,
]
/** Words that are names in programs, or quotations, by file. */
const ALLOWED = [{ file: /^CHANGELOG\.md$/, words: /what is live/ }]

/** Sources whose code may not have long lines either: Prettier divides no string. */
const SHORT = /^(lib|kernel|bin)\/.*\.ts$/

/**
 * Lines that may be longer: tables and code of documents; and code of programs, which Prettier divides where it can,
 * except the sources of the package. Comments may not be.
 */
function mayBeLong(path, line, isCode) {
  if (SHORT.test(path)) return false
  if (path.endsWith('.md')) return isCode || /^(\s*\|| {4})/.test(line)
  return !/^\s*(\*|\/\/|\/\*|#(?!define))/.test(line) || /\S{60,}/.test(line)
}

/** Files whose long lines are data. */
const LONG = [/^docs\/(commands\/|carried\.md)/, /^examples\/.*\.sh$/]

/** @returns what is wrong with a file, a sentence for each line */
export function faultsOf(path, text) {
  if (NOT_PROSE.some((pattern) => pattern.test(path))) return []
  const faults = []
  let isCode = false
  for (const [i, line] of text.split('\n').entries()) {
    if (path.endsWith('.md') && line.startsWith('```')) isCode = !isCode
    const at = `${path}:${i + 1}`
    if (line.length > MAX_COLUMNS && !mayBeLong(path, line, isCode) && !LONG.some((pattern) => pattern.test(path)))
      faults.push(`${at}: ${line.length} columns, more than ${MAX_COLUMNS}`)
    for (const [words, pattern] of Object.entries(WORDS)) {
      const found = pattern?.exec(line)?.[0]
      if (!found || ALLOWED.some(({ file, words: allowed }) => file.test(path) && allowed.test(line))) continue
      faults.push(`${at}: "${found}": see "${words}" in the table of CONTRIBUTING.md`)
    }
  }
  return faults
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trimEnd().split('\n')
  const faults = files.flatMap((path) => {
    const bytes = readFileSync(`${root}${path}`)
    return bytes.subarray(0, 8000).includes(0) ? [] : faultsOf(path, bytes.toString())
  })
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}
