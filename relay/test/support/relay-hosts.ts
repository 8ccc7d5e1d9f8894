// One HTTPS server with many names, each of which is a relay that behaves as a test says, well or badly.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DISCOVERY_VERSION, PROTOCOL_VERSION } from '@svc/protocol'
import { type InventedRelay, inventRelay } from './descriptors.ts'

const DOMAIN = 'relay.test'
/** Of the machine's own addresses, this one stands for a public one: a test mocks `isPublicAddress` so. */
const PUBLIC = '127.0.0.2'
export const PRIVATE = '127.0.0.1'

export interface RelayHosts {
  /** The certificate of every name, to be trusted. */
  ca: string
  /** Addresses of names; {@link PUBLIC} for others. */
  addresses: Map<string, string>
  lookup: LookupFunction
  /** Requests, as `host path`. */
  asked: string[]
  originOf(name: string): string
  /** Lets a name answer so. */
  answer(name: string, listener: RequestListener): void
  /** Lets a name be a relay that lists itself and `others()`. */
  relay(name: string, others?: () => unknown[], fields?: Record<string, unknown>): InventedRelay
  close(): void
}

export async function startRelayHosts(): Promise<RelayHosts> {
  const { cert, key } = certificate()
  const listeners = new Map<string, RequestListener>()
  const asked: string[] = []
  const server: Server = createServer({ cert, key }, (request, response) => {
    const [name = ''] = (request.headers.host ?? '').split(`.${DOMAIN}`)
    asked.push(`${name} ${request.url}`)
    const listener = listeners.get(name)
    if (listener === undefined) response.writeHead(404).end()
    else listener(request, response)
  })
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '0.0.0.0'), 'listening')
  const { port } = server.address() as AddressInfo
  const addresses = new Map<string, string>()
  const originOf = (name: string): string => `https://${name}.${DOMAIN}:${port}`
  const hosts: RelayHosts = {
    ca: cert,
    addresses,
    lookup: (hostname, _options, callback) => {
      const address = addresses.get(hostname.replace(`.${DOMAIN}`, '')) ?? PUBLIC
      process.nextTick(() => callback(null, [{ address, family: 4 }]))
    },
    asked,
    originOf,
    answer: (name, listener) => void listeners.set(name, listener),
    relay: (name, others = () => [], fields = {}) => {
      const relay = inventRelay()
      hosts.answer(name, ({ url }, response) => {
        const relays = [relay.describe(originOf(name)), ...(url === '/discovery' ? others() : [])]
        const protocol_version = url === '/sdk/domain' ? PROTOCOL_VERSION : DISCOVERY_VERSION
        const data = { protocol_version, release_version: '1.2.3', relays, ...fields }
        response.end(JSON.stringify({ ok: true, data: url === '/discovery/announce' ? {} : data }))
      })
      return relay
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return hosts
}

function certificate(): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), 'svc-hosts-'))
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const make = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test'
  const names = `subjectAltName=DNS:*.${DOMAIN}`
  execFileSync('openssl', [...make.split(' '), '-addext', names, '-out', cert, '-keyout', key], {
    stdio: 'pipe',
  })
  const files = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  rmSync(directory, { recursive: true })
  return files
}
