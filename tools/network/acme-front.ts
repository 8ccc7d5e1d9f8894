// A front of pebble for pages: it answers with the cross-origin fields and the CAA identity that Let's Encrypt documents, refuses an order of
// another account where a CAA record forbids it, which pebble does not look up, and is a DNS resolver over HTTPS (RFC 8484).
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCa, createLeaf } from '../../relay/src/core/certificates/development-ca.ts'
import type { DnsServer } from '../dns/dns-server.ts'
import type { AcmeServer } from '../programs/pebble.ts'

/** The domain by which CAA records name the authority. */
const CAA_IDENTITY = 'acme.test'

export interface AcmeFront {
  directoryUrl: string
  dnsUrl: string
  /** The root of its own certificate, PEM. */
  ca: string
  /** The URL of the account that CAA names; undefined while every account may order. */
  allowedAccount: string | undefined
  /** The number of orders that pebble took. */
  readonly orders: number
  /** The milliseconds for which pebble worked on requests. */
  readonly pebbleMs: number
  close(): Promise<void>
}

/** Where pebble takes new orders. */
const ORDER = '/order-plz'
const DIRECTORY = '/dir'
const DNS_QUERY = '/dns-query'
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

/** @param dns answers questions at `dnsUrl` @default none */
export async function startAcmeFront(acme: AcmeServer, dns?: Pick<DnsServer, 'answer'>): Promise<AcmeFront> {
  const authority = createCa('localhost')
  const { chain, key } = createLeaf(authority, 'localhost', ['localhost'])
  const pebble = new URL(acme.directoryUrl)
  const ca = readFileSync(acme.caFile, 'utf8')
  let pebbleMs = 0
  let orders = 0
  const server = createServer({ cert: chain, key }, async (asked, answer) => {
    if (asked.method === 'OPTIONS') return void answer.writeHead(204, { ...CROSS_ORIGIN, ...PREFLIGHT }).end()
    const { method, url = '', headers } = asked
    if (dns && url.startsWith(DNS_QUERY)) {
      const question = new URL(url, 'https://localhost').searchParams.get('dns') ?? ''
      const found = await dns.answer(Buffer.from(question, 'base64url'))
      return void answer
        .writeHead(200, { ...CROSS_ORIGIN, 'Content-Type': 'application/dns-message' })
        .end(found)
    }
    const body = Buffer.concat(await asked.toArray())
    if (front.allowedAccount && url === ORDER && !isOf(body, front.allowedAccount)) {
      const detail = 'CAA record forbids issuance to this account'
      answer.writeHead(403, { ...CROSS_ORIGIN, 'Content-Type': 'application/problem+json' })
      return void answer.end(JSON.stringify({ type: 'urn:ietf:params:acme:error:caa', detail }))
    }
    const begun = performance.now()
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
    const received = Buffer.concat(await response.toArray())
    const content = url === DIRECTORY ? withIdentity(received) : received
    pebbleMs += performance.now() - begun
    if (url === ORDER && response.statusCode === 201) orders += 1
    const { 'content-length': _length, ...fields } = response.headers
    answer.writeHead(response.statusCode, { ...fields, ...CROSS_ORIGIN }).end(content)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const front: AcmeFront = {
    directoryUrl: `${origin}${DIRECTORY}`,
    dnsUrl: `${origin}${DNS_QUERY}`,
    ca: authority.certificate,
    allowedAccount: undefined,
    get orders() {
      return orders
    },
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

/** Adds to the directory how CAA records name the authority. */
function withIdentity(directory: Buffer): Buffer {
  const { meta, ...urls } = JSON.parse(directory.toString())
  return Buffer.from(JSON.stringify({ ...urls, meta: { ...meta, caaIdentities: [CAA_IDENTITY] } }))
}

/** Returns whether a request is signed by an account. */
function isOf(body: Buffer, account: string): boolean {
  const { protected: header } = JSON.parse(body.toString())
  return JSON.parse(Buffer.from(header, 'base64url').toString()).kid === account
}
