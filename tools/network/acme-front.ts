// A front of pebble for pages: it answers with the cross-origin fields that Let's Encrypt documents, and refuses an order of another
// account where a CAA record forbids it, which pebble does not look up.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCa, createLeaf } from '../../relay/src/core/certificates/development-ca.ts'
import type { AcmeServer } from '../programs/pebble.ts'

export interface AcmeFront {
  directoryUrl: string
  /** The root of its own certificate, PEM. */
  ca: string
  /** The URL of the account that CAA names; undefined while every account may order. */
  allowedAccount: string | undefined
  /** The milliseconds for which pebble worked on requests. */
  readonly pebbleMs: number
  close(): Promise<void>
}

/** Each answer of Boulder has these, in place of pebble's. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Link, Replay-Nonce, Location',
}
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
}

export async function startAcmeFront(acme: AcmeServer): Promise<AcmeFront> {
  const authority = createCa('localhost')
  const { chain, key } = createLeaf(authority, 'localhost', ['localhost'])
  const pebble = new URL(acme.directoryUrl)
  const ca = readFileSync(acme.caFile, 'utf8')
  let pebbleMs = 0
  const server = createServer({ cert: chain, key }, async (asked, answer) => {
    if (asked.method === 'OPTIONS') return void answer.writeHead(204, { ...CROSS_ORIGIN, ...PREFLIGHT }).end()
    const body = Buffer.concat(await asked.toArray())
    if (front.allowedAccount && asked.url?.includes('order-plz') && !isOf(body, front.allowedAccount)) {
      const detail = 'CAA record forbids issuance to this account'
      answer.writeHead(403, { ...CROSS_ORIGIN, 'Content-Type': 'application/problem+json' })
      return void answer.end(JSON.stringify({ type: 'urn:ietf:params:acme:error:caa', detail }))
    }
    const begun = performance.now()
    const { method, url, headers } = asked
    // Pebble makes its URLs of Host, so that the page gets those of the front.
    const passed = request({
      host: pebble.hostname,
      port: pebble.port,
      ca,
      method,
      path: url,
      headers,
      agent: false,
    })
    passed.on('error', () => answer.destroy())
    const [response] = await once(passed.end(body), 'response')
    const content = Buffer.concat(await response.toArray())
    pebbleMs += performance.now() - begun
    answer.writeHead(response.statusCode, { ...response.headers, ...CROSS_ORIGIN }).end(content)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const front: AcmeFront = {
    directoryUrl: `https://localhost:${(server.address() as AddressInfo).port}/dir`,
    ca: authority.certificate,
    allowedAccount: undefined,
    get pebbleMs() {
      return pebbleMs
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return front
}

/** Returns whether a request is signed by an account. */
function isOf(body: Buffer, account: string): boolean {
  const { protected: header } = JSON.parse(body.toString())
  return JSON.parse(Buffer.from(header, 'base64url').toString()).kid === account
}
