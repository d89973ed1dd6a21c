import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

const root = new URL('../../../shared/corpus/', import.meta.url)

/** The folder of the larger corpus of real traces, beside the checkout. */
export const CORPUS = fileURLToPath(root)

/**
 * Whether the corpus is there. A test that reads it has the tag `corpus`, which skips it where this is false; this is
 * for what is read to list the tests.
 */
export const hasCorpus = existsSync(root)

/** A file of the corpus, inflated if it is there as `.gz` only. */
export function corpusFile(path: string): Uint8Array {
  const plain = new URL(path, root)
  return existsSync(plain) ? readFileSync(plain) : gunzipSync(readFileSync(new URL(`${path}.gz`, root)))
}

/** Where a file of the corpus is, for commands. */
export function corpusPath(path: string): string {
  return fileURLToPath(new URL(path, root))
}
