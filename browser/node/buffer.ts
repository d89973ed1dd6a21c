// What the bundler puts in place of Node's global Buffer.
export { Buffer } from 'buffer/index.js'
