// Some relays sign at `/v1/sign` more than the protocol asks: sites use it where the relay says so, and do without elsewhere.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, it as every, expect } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { publish, type Site } from '../../src/index.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'variant')

const HOST = 'demo.relay.localhost'
const GET = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`
/** Handshakes that a relay of the bare protocol cannot sign, as `openssl s_client` asks for them. */
const BEYOND: [what: string, args: string[]][] = [
  ['SHA-384 alone', ['-ciphersuites', 'TLS_AES_256_GCM_SHA384']],
  ['no share of a group that the site has, only the name of one', ['-groups', 'P-521:X25519']],
]

/** A real client's request over TLS, and what it says of the handshake. */
async function openssl(port: number, caFile: string, args: readonly string[]): Promise<string> {
  const where = ['-connect', `127.0.0.1:${port}`, '-servername', HOST, '-verify_hostname', HOST]
  const trust = ['-CAfile', caFile, '-verify_return_error', '-ign_eof']
  const client = promisify(execFile)('openssl', ['s_client', ...where, ...trust, ...args], {
    timeout: 60_000,
  })
  client.child.stdin!.end(GET)
  return await client.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  )
}

function publishAt(relay: string, ca: string): Promise<Site> {
  const identity = Uint8Array.from(randomBytes(32))
  const options = { name: 'demo', identity, certificate: 'shared' } as const
  return publish({ relay, ca, ...options, fetch: () => new Response('hello') })
}

describe('a relay that lists none, as the family has them', () => {
  let folder: string
  let caFile: string
  let relay: RelayDouble
  let site: Site
  let ingress: Server
  let port: number

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-extensions-'))
    caFile = join(folder, 'ca.pem')
    await writeFile(caFile, CERTIFICATE_PEM)
    relay = await RelayDouble.start()
    site = await publishAt(relay.url, CERTIFICATE_PEM)
    ingress = createServer((visitor) => void relay.bridge(visitor)).listen(0, '127.0.0.1')
    await once(ingress, 'listening')
    port = (ingress.address() as AddressInfo).port
  })
  afterAll(async () => {
    ingress.close()
    await site.close()
    await relay.crash()
    await rm(folder, { recursive: true })
  })
  beforeEach(() => {
    relay.calls = []
  })

  it('serves curl, as it comes', async () => {
    const to = ['--connect-to', `${HOST}:443:127.0.0.1:${port}`, '--cacert', caFile]
    const options = ['--silent', '--show-error', ...to, `https://${HOST}/`]
    expect((await promisify(execFile)('curl', options)).stdout).toBe('hello')
  })

  it.each([
    [[], 'TLS_AES_128_GCM_SHA256'],
    [
      ['-ciphersuites', 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'],
      'TLS_CHACHA20_POLY1305_SHA256',
    ],
    [['-groups', 'P-384'], 'TLS_AES_128_GCM_SHA256'],
  ])('serves openssl %j', async (args, suite) => {
    const said = await openssl(port, caFile, args)
    expect(said).toContain(`Cipher is ${suite}`)
    expect(said).toMatch(/\r\n\r\nhello/)
  })

  it.each(BEYOND)(
    'is not asked for what it cannot sign; the client is told: %s (protocol §10.2.3)',
    async (_, args) => {
      expect(await openssl(port, caFile, args)).toMatch(/alert handshake failure/)
      expect(relay.count('/v1/sign')).toBe(0)
    },
  )
})

describe('a relay of ours', () => {
  let relay: TestRelay
  let site: Site
  beforeAll(async () => {
    relay = await startTestRelay()
    site = await publishAt(relay.origin, relay.ca)
  })
  afterAll(async () => {
    await site.close()
    await relay.close()
  })

  it.each(BEYOND)('lists them, and its sites serve: %s', async (_, args) => {
    expect(await openssl(relay.port, relay.caFile, args)).toMatch(/\r\n\r\nhello/)
  })
})
