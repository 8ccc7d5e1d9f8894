// The visitor's address at real peers: curl from several addresses visits, and nginx and HAProxy, which read the PROXY protocol,
// answer with what they read.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { curl } from '../../../tools/programs/curl.ts'
import { findHaproxy, startProxyHaproxy } from '../../../tools/programs/haproxy.ts'
import { findNginx, startNginx } from '../../../tools/programs/nginx.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { publish } from '../../src/index.ts'
import { exposeAt, listening, TCP_PORTS, TCP_SETTINGS } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay } from '../support/relay.ts'

const VISITORS = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 2}`)
const FORGED = '203.0.113.66'

const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))

let directory: string
let certificate: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-peers-'))
  certificate = join(directory, 'identity.pem')
  await writeFile(certificate, CERTIFICATE_PEM + PRIVATE_KEY_PEM)
})
afterAll(() => rm(directory, { recursive: true }))

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** Visits as curl does from this address. */
async function visitFrom(address: string, url: string, ...args: string[]): Promise<string> {
  return String(await curl(relay.caFile, '--interface', address, ...args, url))
}

describe('curl from eight addresses', () => {
  it('is named to the handler of publish', async () => {
    const site = await publish({
      relay: relay.origin,
      ca: relay.ca,
      identity: Uint8Array.from(randomBytes(32)),
      visitorAddress: true,
      fetch: (_request, { remote }) => new Response(remote?.address),
    })
    open.push(() => site.close())
    for (const address of VISITORS) expect(await visitFrom(address, site.url)).toBe(address)
  })

  it('is named to an HTTP server behind expose, whatever it says itself', async () => {
    const server = createServer(({ headers }, response) => {
      response.end(`${headers['x-forwarded-for']} ${headers['x-real-ip']}`)
    })
    open.push(() => server.close())
    const exposure = await exposeAt(relay, { http: await listening(server) })
    open.push(() => exposure.close())
    const forged = ['X-Forwarded-For', 'X-Real-IP'].flatMap((name) => ['-H', `${name}: ${FORGED}`])
    for (const address of VISITORS)
      expect(await visitFrom(address, exposure.sites[0]!.url, ...forged)).toBe(`${address} ${address}`)
  })
})

interface Service {
  port: number
  stop(): Promise<void>
}

/** A service that expects the PROXY protocol, and answers with `source port destination port`. @param isTls whether it ends TLS */
const PEERS: [string, string | undefined, (isTls: boolean) => Promise<Service>][] = [
  [
    'nginx',
    findNginx(),
    async (isTls) => {
      const port = await freePort()
      const tls = `ssl_certificate ${certificate}; ssl_certificate_key ${certificate};`
      const answer =
        '"$proxy_protocol_addr $proxy_protocol_port $proxy_protocol_server_addr $proxy_protocol_server_port"'
      const { stop } = await startNginx(
        port,
        `http {
           access_log off;
           server {
             listen 127.0.0.1:${port} ${isTls ? 'ssl' : ''} proxy_protocol;
             ${isTls ? tls : ''}
             location / { default_type text/plain; return 200 ${answer}; }
           }
         }`,
      )
      return { port, stop }
    },
  ],
  ['HAProxy', findHaproxy(), (isTls) => startProxyHaproxy(isTls ? certificate : undefined)],
]

for (const [name, program, start] of PEERS)
  describe.skipIf(program === undefined)(`${name} (Debian ${name.toLowerCase()})`, () => {
    it.each(['v1', 'v2'] as const)('as a TCP service reads a header of %s', async (proxyProtocol) => {
      const service = await start(false)
      open.push(() => service.stop())
      const exposure = await exposeAt(relay, { tcp: service.port, proxyProtocol })
      open.push(() => exposure.close())
      const port = exposure.sites[0]!.tcpAddress!.split(':').at(-1)
      for (const address of VISITORS)
        expect(await visitFrom(address, `http://127.0.0.1:${port}/`)).toMatch(
          new RegExp(`^${address} [1-9]\\d* 127\\.0\\.0\\.1 ${port}$`),
        )
    })

    it.each(['v1', 'v2'] as const)('as a TLS service reads a header of %s', async (proxyProtocol) => {
      const service = await start(true)
      open.push(() => service.stop())
      const exposure = await exposeAt(relay, { tls: service.port, proxyProtocol })
      open.push(() => exposure.close())
      // The service has a certificate of its own, which is for another host.
      for (const address of VISITORS)
        expect(await visitFrom(address, exposure.sites[0]!.url, '--insecure')).toMatch(
          new RegExp(`^${address} [1-9]\\d* 127\\.0\\.0\\.1 ${relay.port}$`),
        )
    })
  })
