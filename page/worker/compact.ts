import { slicesOf } from '../../browser/source.js'
import { CompactDecoder } from '../../lib/formats/compact/decode.js'
import { info } from '../../lib/formats/compact/info.js'
import { runStage } from '../../lib/reading/run-stage.js'
import { serve, type Read } from './serve.js'

/** Reads the trace that a page has in it, which is compact. */
const read: Read = (file, { onFormat, onWarning, onProgress }) => {
  onFormat(info)
  return runStage(new CompactDecoder(), slicesOf(file, { onProgress }), onWarning)
}

serve(read)
