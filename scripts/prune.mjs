// Removes from dist what sources made that are gone: it would be published, and tests would find it.
import { existsSync, readdirSync, rmSync } from 'node:fs'

const root = new URL('../', import.meta.url)
for (const folder of ['bin', 'lib']) {
  const built = new URL(`dist/${folder}/`, root)
  if (!existsSync(built)) continue
  for (const name of readdirSync(built, { recursive: true })) {
    const source = name.replace(/(\.d\.ts|\.js)$/, '.ts')
    if (source !== name && !existsSync(new URL(`${folder}/${source}`, root))) rmSync(new URL(name, built))
  }
}
