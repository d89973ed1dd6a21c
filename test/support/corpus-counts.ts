import { readFileSync } from 'node:fs'
import { CORPUS, listOfCorpus } from './corpus.js'

/** What the README of a folder of the corpus says of a file: counts by their keys. */
export interface CorpusCounts {
  name: string
  /** The counts, `[+]` under the key `+`. */
  counts: Readonly<Record<string, number>>
  /** The whole text. */
  text: string
}

/** The counts of all files of a folder, which were made by independent scripts. */
export function corpusCounts(folder: string): CorpusCounts[] {
  return listOfCorpus(() => countsOf(folder), { name: 'none', text: '', counts: {} })
}

function countsOf(folder: string): CorpusCounts[] {
  const readme = readFileSync(`${CORPUS}${folder}/README.md`, 'utf8')
  const sections = readme.matchAll(/^## (\S+?)(?:\.gz)?\n[^]*?^```\n(?:BAD .*\n)*([^]*?)^```/gm)
  return Array.from(sections, ([, name, text]) => ({
    name: name as string,
    text: text as string,
    counts: Object.fromEntries(
      [...(text as string).matchAll(/(?:\[([^\]]+)\]|([\w()-]+))=(\d+)/g)].map(([, key, plain, n]) => [
        (key ?? plain) as string,
        Number(n),
      ]),
    ),
  }))
}
