import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

// npm test names a folder that is not there, so that it does the same in every checkout: see vitest.config.ts.
const root = new URL(`${process.env['HEAPFLOW_CORPUS'] ?? '../../../shared/corpus'}/`, import.meta.url)

/** The folder of the larger corpus of real traces, beside the checkout. */
export const CORPUS = fileURLToPath(root)

/**
 * Whether the corpus is there. A test that reads it has the tag `corpus`, which skips it where this is false;
 * `listOfCorpus` lists tests.
 */
export const hasCorpus = existsSync(root)

/**
 * A list of tests from files of the corpus. Where that is absent it has one entry, `absent`, because vitest fails for a
 * suite without tests; the tag `corpus` skips that entry's test.
 */
export function listOfCorpus<Entry>(list: () => Entry[], absent: Entry): Entry[] {
  return hasCorpus ? list() : [absent]
}

/** A file of the corpus, inflated if it is there as `.gz` only. */
export function corpusFile(path: string): Uint8Array {
  const plain = new URL(path, root)
  return existsSync(plain) ? readFileSync(plain) : gunzipSync(readFileSync(new URL(`${path}.gz`, root)))
}

/** Where a file of the corpus is, for commands. */
export function corpusPath(path: string): string {
  return fileURLToPath(new URL(path, root))
}

const TRACE = /\.(mtrc|hatf|txt|zst|mtrace|log|ltrace|kmemtrace|bin|heapmon)(\.gz|\.zip|\.xz)?$/
const FOLDERS = ['mtrc', 'hatf-ascii', 'heaptrack', 'kmem', 'ltrace', 'memory-replay', 'mtrace', 'valgrind']

/** All traces of the corpus that are whole, or were cut where programs ended. */
export function corpusTraces(): string[] {
  const list = () =>
    FOLDERS.flatMap((folder) =>
      readdirSync(`${CORPUS}${folder}`)
        .filter((name) => TRACE.test(name) && !/\.(print|interpret)\.txt$/.test(name))
        .map((name) => `${folder}/${name}`),
    )
  return listOfCorpus(list, 'none')
}
