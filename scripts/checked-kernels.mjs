// The source of a checked kernel. Each access to memory asserts that it is in a room (see kernel/shared/rooms.ts), and
// fails with its file and line otherwise. Pieces of `memory.data` are rooms, and what `takeRoom` returns; modules that
// manage memory otherwise say so in comments that begin with `checked:`, and become code here.
import { Parser, NodeKind } from 'assemblyscript'
import { dirname, join, relative } from 'node:path'

const ROOMS = 'shared/rooms'
/** Modules that manage memory outside rooms. */
const OUTSIDE = [ROOMS, 'live/room']
/** By name, the position of an access's offset among its arguments, and its size. */
const ACCESSES = {
  load: [1],
  store: [2],
  'v128.load': [1, '16'],
  'v128.store': [2, '16'],
  'v128.load_zero': [1],
  'v128.load_lane': [3],
  'v128.store_lane': [3],
}
const PIECES = ['copy', 'fill', 'compare']

/** @param source of a module @param path of it in kernel/ @param isKernel whether it is the kernel itself */
export function checkedSource(source, path, isKernel) {
  const text = source.replaceAll('// checked: ', '')
  const module = path.replace(/\.ts$/, '')
  if (OUTSIDE.includes(module)) return text
  const edits = []
  const insert = (at, added) => edits.push({ at, end: at, added })
  const textOf = ({ range }) => text.slice(range.start, range.end)
  const lineOf = ({ range }) => text.slice(0, range.start).split('\n').length
  const place = (node) => `${JSON.stringify(path)}, ${lineOf(node)}`
  const wrap = (name, node, rest) => {
    insert(node.range.start, `rooms.${name}(`)
    insert(node.range.end, `, ${rest}, ${place(node)})`)
  }
  let opened = ''

  /** A piece of memory that never moves: `BETWEEN` bytes longer. */
  const onData = (call, name) => {
    if (name === undefined) throw new Error(`${path}:${lineOf(call)}: memory.data has no name`)
    const [content] = call.args
    const type = call.typeArguments?.[0]
    const one = type ? `sizeof<${textOf(type)}>()` : '1'
    const count = type ? String(content.elementExpressions.length) : `(${textOf(content)})`
    if (type) insert(content.range.end - 1, `${textOf(content).match(/,\s*\]$/) ? '' : ','}${Array(64).fill('0')}`)
    else {
      insert(content.range.start, '(')
      insert(content.range.end, `) + rooms.BETWEEN`)
    }
    opened += `;rooms.openStatic(changetype<usize>(${name}), ${count} * ${one})`
  }

  const onCall = (call, name) => {
    const { args, expression, typeArguments } = call
    const called = textOf(expression)
    const type = typeArguments?.[0] && textOf(typeArguments[0])
    if (called === 'memory.data') onData(call, name)
    else if (Object.hasOwn(ACCESSES, called)) {
      const [offset, size] = ACCESSES[called]
      wrap('inRoom', args[0], `${args[offset] ? textOf(args[offset]) : 0}, ${size ?? `sizeof<${type}>()`}`)
    } else if (/\.(load|store)/.test(called)) throw new Error(`${path}:${lineOf(call)}: ${called} is not checked`)
    else if (called === 'changetype' && type !== 'usize' && name === undefined)
      wrap('objectInRoom', args[0], `offsetof<${type}>()`)
    else if (PIECES.some((piece) => called === `memory.${piece}`)) {
      edits.push({ at: expression.range.start, end: expression.range.start + 'memory'.length, added: 'rooms' })
      insert(args[2].range.end, `, ${place(call)}`)
    }
  }

  /** @param name of the constant that a node initializes */
  const visit = (node, name) => {
    if (node.kind === NodeKind.Import) {
      if (join(dirname(path), node.path.value) !== 'live/room') return
      edits.push({ at: node.path.range.start, end: node.path.range.end, added: `'${pathTo}'` })
    }
    if (node.kind === NodeKind.Call) onCall(node, name)
    for (const child of childrenOf(node)) visit(child, name)
  }
  const pathTo = relative(dirname(`/${path}`), `/${ROOMS}`).replace(/^(?!\.)/, './')
  const parser = new Parser()
  parser.parseFile(text, path, true)
  for (const statement of parser.sources[0].statements) {
    if (statement.kind !== NodeKind.Variable) {
      visit(statement)
      continue
    }
    opened = ''
    for (const { initializer, name } of statement.declarations) if (initializer) visit(initializer, name.text)
    insert(statement.range.end, opened)
  }

  edits.sort((a, b) => b.at - a.at)
  let checked = text
  for (const { at, end, added } of edits) checked = checked.slice(0, at) + added + checked.slice(end)
  const exported = isKernel ? `;export { checkRooms } from '${pathTo}'` : ''
  return `import * as rooms from '${pathTo}';${checked}${exported}\n`
}

/** The nodes directly below a node of the compiler's syntax tree. */
function childrenOf(node) {
  return Object.entries(node)
    .filter(([key]) => key !== 'range')
    .flatMap(([, value]) => value)
    .filter((value) => value !== null && typeof value === 'object' && 'kind' in value && 'range' in value)
}
