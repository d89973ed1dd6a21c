import { ALL_GROUP_FIELDS } from '../../event/fields.js'
import { checked, type WritableFormat } from '../../event/format.js'
import type { NoOptions } from '../../event/options.js'
import type { Decoder } from '../../event/stage.js'
import { CARRIED } from '../arrow/layout.js'
import { ParquetEncoder, type ParquetEncodeOptions } from './encode.js'
import { info } from './info.js'
import { noFile } from './no-file.js'
import { sniff } from './sniff.js'

/** Events in columns, in a file for tools that analyze data. */
export const parquet: WritableFormat<NoOptions, ParquetEncodeOptions> = checked({
  ...info,
  carried: CARRIED,
  groups: ALL_GROUP_FIELDS,
  sniff,
  decoder: () => new NoDecoder(),
  encoder: (options) => new ParquetEncoder(options),
})

export { ParquetEncoder, type ParquetEncodeOptions } from './encode.js'

/** The decoder for Parquet in a pipe, which reports an error. Files are read elsewhere, from their end. */
class NoDecoder implements Decoder {
  feed(): void {}

  next(): never {
    throw noFile()
  }

  end(): void {}

  endTruncated(): void {}
}
