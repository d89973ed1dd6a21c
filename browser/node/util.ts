export { showValue as inspect } from '../../lib/event/message-text.js'
