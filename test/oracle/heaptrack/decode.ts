import type { TraceEvent } from '../../../lib/event/batch.js'
import { formatFrame, type Frame } from '../../../lib/event/frame.js'

/** The blocks of a file by plain arithmetic over its lines: allocations and frees, with stacks, without comments. */
export function blocksOf(text: string): TraceEvent[] {
  const strings: (string | undefined)[] = [undefined]
  const entries: Frame[][] = [[{}]]
  const nodes: string[][] = [[]]
  const infos: { size: bigint; node: number }[] = []
  const live: bigint[][] = []
  const events: TraceEvent[] = []
  const isRaw = /^x /m.test(text)
  let modules: { base: bigint; start: bigint; end: bigint; name: string }[] = []
  let executable = ''
  let time = 0n
  let next = 0x1_0000n

  const alloc = (address: bigint, size: bigint, node: number): void => {
    const stack = nodes[node]
    events.push({ kind: 'alloc', time, address, size, ...(node > 0 && { stack }) })
  }
  for (const line of text.split('\n')) {
    const [letter, ...words] = line.split(' ')
    const numbers = words.map((word) => (/^[0-9a-f]+$/.test(word) ? BigInt(`0x${word}`) : 0n))
    const [first = 0n, second = 0n, third = 0n] = numbers
    if (letter === 'x') executable = line.slice(line.indexOf(' ', 2) + 1)
    if (letter === 'c') time = first * 1000n
    if (letter === 's') strings.push(line.slice(line.indexOf(' ', 2) + 1))
    if (letter === 'm' && words[1] === '-') modules = []
    else if (letter === 'm') {
      const at = numbers[2]
      for (let i = 3; i + 1 < numbers.length; i += 2) {
        const start = at + numbers[i]
        modules.push({ base: at, start, end: start + numbers[i + 1], name: words[1] })
      }
    }
    if (letter === 'i') {
      const place: Frame = {
        ...(second > 0n && { module: strings[Number(second)] }),
        ...(first !== BigInt(entries.length) && { address: first }),
      }
      const frames: Frame[] = []
      for (let i = 2; i < numbers.length; i += 3) {
        const [name, file] = [strings[Number(numbers[i])], strings[Number(numbers[i + 1] ?? 0n)]]
        frames.push({
          ...(name !== undefined && { function: name }),
          ...(file !== undefined && { file, line: Number(numbers[i + 2]) }),
          ...(i + 3 < numbers.length ? { inlined: true as const } : place),
        })
      }
      entries.push(frames.length > 0 ? frames : [place])
    }
    if (letter === 't') {
      let frames = entries[Number(first)]
      if (isRaw) {
        const module = modules.find(({ start, end }) => first >= start && first < end)
        const name = module?.name === 'x' ? executable : module?.name
        frames = [
          { ...(name !== undefined && { module: name, offset: first - (module?.base as bigint) }), address: first },
        ]
      }
      nodes.push([...frames.map(formatFrame), ...nodes[Number(second)]])
    }
    if (letter === 'a') infos.push({ size: first, node: Number(second) })
    if (letter === '+' && isRaw) alloc(third, first, Number(second))
    else if (letter === '+') {
      const { size, node } = infos[Number(first)] as { size: bigint; node: number }
      ;(live[Number(first)] ??= []).push(next)
      alloc(next, size, node)
      next += size > 2n ** 40n ? 16n : (((size > 0n ? size : 1n) + 15n) / 16n) * 16n
    }
    if (letter === '-') {
      const address = isRaw ? first : live[Number(first)]?.pop()
      events.push({ kind: 'free', time, ...(address !== undefined && { address }) })
    }
  }
  return events
}
