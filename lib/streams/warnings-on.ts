import type { EventEmitter } from 'node:events'
import type { Warn } from '../reading/run-stage.js'

export function warningsOn(stream: EventEmitter): Warn {
  return (text) => void stream.emit('warning', text)
}
