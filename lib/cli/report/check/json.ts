import { TEMPORARY_BY } from '../../../transforms/option-values.js'
import { jsonText } from '../json.js'
import type { CheckOutput } from './words.js'

/** The result of a check as JSON: see docs/ci.md. Unknown values are null. */
export function checkJson({ result, status }: CheckOutput): string {
  const { verdict, runs, baseline, suppressed, temporaryBy, budgets } = result
  return jsonText({
    verdict,
    status,
    runs,
    baseline,
    ...(suppressed !== undefined && { suppressed }),
    ...(temporaryBy !== TEMPORARY_BY && { temporaryBy }),
    budgets: budgets.map(({ limit, isNoise, value, most, ...row }) => ({
      ...row,
      limit: limit.text,
      // A row about all functions has no single value.
      ...(row.functions === undefined && { value: value ?? null, most: most ?? null }),
      noise: isNoise,
    })),
  })
}
