import { HeapmonDecoder, type HeapmonDecodeOptions } from '../../../lib/formats/heapmon/decode.js'
import { HeapmonEncoder } from '../../../lib/formats/heapmon/encode.js'
import { decodeAll, encodeAll, type Decoded } from '../../support/drive.js'

/** Decodes text, a byte for each character, in pieces of `size` bytes. */
export function decode(text: string, size?: number, options?: HeapmonDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new HeapmonDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

/** Decodes text and writes its events again. */
export function rewrite(text: string): string {
  const { batches, error } = decode(text)
  if (error) throw error
  return Buffer.from(encodeAll(new HeapmonEncoder(), batches)).toString('latin1')
}

/** The format's own example. */
export const SAMPLE = `\
      Thread      Time of event       Address     Size    Type            Stack crawl
      2-22982     759537687555872     0xb2362718  del     TIterator       TArrayIterator...
      2-22982     759537687558595     0xb2362950  12      novtbl          THybridNumber...
      0-0         old                 0xb24020d0  48      TLocalSemaphore
`

/** The format's own example of a full stack crawl. */
export const FULL_CRAWL =
  'TArrayIterator::~TArrayIterator()|THybridNumerals::AddFormattingPairAbsolutely(unsigned short,long)|' +
  'THybridNumerals::AddFormattingPair(unsigned short,long)|THybridNumerals::CreateStandardHexNumerals()|' +
  'TTieredTextBuffer::NumberFormat()|TTieredTextBuffer::operator<<(const long)|' +
  'TTieredTextBuffer::operator<<(const int)|TLocalHeapMonitorTest::ShowMem(void*,long)'
