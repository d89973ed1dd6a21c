import { checkEncodeOptions } from '../../event/format.js'
import type { Target } from '../targets.js'
import { CSourceEncoder, type CSourceOptions } from './encode.js'
import { info } from './info.js'

/** C source that makes the calls of a trace. */
export const cSource: Target = {
  ...info,
  encoder(options: CSourceOptions = {}) {
    checkEncodeOptions(info, options, `the encoder of ${info.name}`)
    return new CSourceEncoder(options)
  },
}
