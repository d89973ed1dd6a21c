// Removes from dist what sources made that are gone: it would be published, and tests would find it.
import { existsSync, readdirSync, rmSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const built = new URL('dist/lib/', root)
for (const name of readdirSync(built, { recursive: true })) {
  const source = name.replace(/(\.d\.ts|\.js)$/, '.ts')
  if (source !== name && !existsSync(new URL(`lib/${source}`, root))) rmSync(new URL(name, built))
}
