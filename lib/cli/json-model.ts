import { readFileSync, statSync } from 'node:fs'
import { limit, malformed, nameInput } from '../event/error.js'

/**
 * Reads a model from a file of JSON, or from standard input.
 * @param most its bytes, at most
 * @param check what makes it of the value
 * @throws TraceError for what is none
 */
export function readModel<Model>(file: string, most: number, check: (value: unknown) => Model): Model {
  const at = { format: 'model' }
  try {
    if (file !== '-' && statSync(file).size > most) throw limit(`a model has at most ${most} bytes`, at)
    const text = readFileSync(file === '-' ? 0 : file, 'utf8')
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw malformed(`not JSON: ${(error as Error).message}`, at)
    }
    return check(value)
  } catch (error) {
    nameInput(error, file)
    throw error
  }
}
