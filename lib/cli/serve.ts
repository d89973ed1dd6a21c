import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const LOOPBACK = '127.0.0.1'
const TOKEN_BYTES = 16
/** The time limit for a connection to end, in milliseconds. */
const GRACE_MS = 500

export interface ServedPage {
  /** The address of the page: on this machine alone, under a token that no one can guess. */
  readonly url: string
  /**
   * Another address, which works only once, for the command line of a browser. Other users can see command lines, but
   * the browser has usually used the address by then.
   */
  readonly once: string
  /** Resolves when the page was delivered for the first time. */
  readonly delivered: Promise<void>
  /** Stops the server. Responses in progress have half a second to complete. */
  close(): Promise<void>
}

/**
 * Serves one page of HTML on the loopback interface, and nothing else. Requests for another path, by another method, or
 * for another host get an empty answer. So neither programs of other users can read it, nor pages from elsewhere (by a
 * name that leads to this machine).
 * @param port 0: any that is free
 * @throws the system's error, if the port cannot be used
 */
export async function servePage(html: Uint8Array, port = 0): Promise<ServedPage> {
  const path = tokenPath()
  let oncePath: string | undefined = tokenPath()
  let isDelivered: () => void = () => {}
  const delivered = new Promise<void>((resolve) => (isDelivered = resolve))
  const server = createServer((request, response) => {
    const { method, url = '' } = request
    if (oncePath !== undefined && isSame(url, oncePath) && isOurs(request, server) && method === 'GET') {
      oncePath = undefined
      response.writeHead(303, { ...HEADERS, location: path, 'content-length': 0 }).end()
      return
    }
    const status = isOurs(request, server) ? statusOf(request, path) : 421
    if (status !== 200) {
      response.writeHead(status, { ...HEADERS, 'content-length': 0 }).end()
      return
    }
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/html; charset=utf-8', 'content-length': html.length })
    if (method === 'HEAD') response.end()
    else response.end(html, isDelivered)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, LOOPBACK, resolve))
  const origin = `http://${hostOf(server)}`
  return {
    url: origin + path,
    once: origin + oncePath,
    delivered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        setTimeout(() => server.closeAllConnections(), GRACE_MS).unref()
      }),
  }
}

/** No one keeps the page, frames it, or learns where it was. */
const HEADERS: OutgoingHttpHeaders = {
  connection: 'close',
  'cache-control': 'no-store',
  'content-security-policy': "frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function tokenPath(): string {
  return `/${randomBytes(TOKEN_BYTES).toString('hex')}/`
}

/** Whether a request is for this server by its own name. */
function isOurs({ headers }: IncomingMessage, server: Server): boolean {
  return headers.host === hostOf(server)
}

function statusOf({ method, url = '' }: IncomingMessage, path: string): number {
  if (!isSame(url, path)) return 404
  return method === 'GET' || method === 'HEAD' ? 200 : 405
}

/** Whether the path is right, in a time that does not depend on how much of it is. */
function isSame(url: string, path: string): boolean {
  const [given, wanted] = [Buffer.from(url), Buffer.from(path)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function hostOf(server: Server): string {
  return `${LOOPBACK}:${(server.address() as AddressInfo).port}`
}
