import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { registerFormat } from '../streams/register-format.js'
import type { Format } from '../event/format.js'
import { orUsageError, UsageError } from './command.js'

/**
 * Loads modules, and registers the formats that they export under any names.
 * @throws UsageError for a module that cannot be loaded, or exports no format
 */
export async function loadFormatModules(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const formats = Object.values(await load(path)).filter(isFormat)
    if (formats.length === 0) throw new UsageError(`--format-module ${path} exports no format, made by defineFormat()`)
    for (const format of new Set(formats)) orUsageError(() => registerFormat(format), `--format-module ${path}: `)
  }
}

async function load(path: string): Promise<object> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as object
  } catch (error) {
    throw new UsageError(`--format-module ${path} cannot be loaded: ${(error as Error).message}`)
  }
}

function isFormat(value: unknown): value is Format {
  const format = (typeof value === 'object' && value !== null ? value : {}) as Partial<Format>
  return [format.decoder, format.sniff].every((part) => typeof part === 'function') && typeof format.name === 'string'
}
