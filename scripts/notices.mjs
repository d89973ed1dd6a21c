// The licences of the packages that are part of a bundle, for the beginning of the bundle.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The folders of the packages among the inputs of a build. @param metafile of esbuild */
const packagesOf = ({ inputs }) =>
  [
    ...new Set(Object.keys(inputs).flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])),
  ].toSorted()

/** A comment with the licences of all packages in these builds, or nothing if there are none. */
export function noticesOf(...metafiles) {
  return [...new Set(metafiles.flatMap(packagesOf))]
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one))
      if (file === undefined) throw new Error(`${name} is bundled, and has no licence`)
      const text = readFileSync(join(root, folder, file), 'utf8').trim()
      if (text.includes('*/')) throw new Error(`the licence of ${name} would end a comment`)
      return `/*! ${name} ${version}\n\n${text} */\n`
    })
    .join('')
}
