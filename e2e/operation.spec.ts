// A relay in operation: it is stopped while a visitor downloads, and its certificates are replaced while it runs.

import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { publish, type Site } from '@svc/sdk-node'
import { curl } from '../tools/programs/curl.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const MIB: number = 1024 * 1024
const PIECES = 64
const ROOT_HOST = 'relay.localhost'

let relay: TestRelay
let site: Site | undefined
test.beforeEach(async () => {
  relay = await startTestRelay()
})
test.afterEach(async () => {
  await site?.close()
  await relay.stop()
})

/** Shows the relay's certificate, which is the one that is replaced. */
async function publishWith(fetch: (request: Request) => Response): Promise<Site> {
  const ca = await readFile(relay.caFile, 'utf8')
  const options = { name: 'operated', identity: randomBytes(32), certificate: 'shared' } as const
  site = await publish({ relay: relay.url, ca, ...options, fetch })
  return site
}

test('a download survives SIGTERM; nobody new comes in, and the relay ends with 0 when it is done', async () => {
  const bytes = randomBytes(4 * MIB)
  const [begun, isRefused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { url } = await publishWith(() => new Response(inPieces(bytes, begun.resolve, isRefused.promise)))
  const download = curl(relay.caFile, '--fail', url)
  await begun.promise
  process.kill(relay.pid, 'SIGTERM')
  await expect.poll(() => curl(relay.caFile, relay.url).catch(String)).toMatch(/Could ?n.t connect|refused/i)
  expect(relay.exitCode()).toBe(null)
  isRefused.resolve()
  const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')
  expect(digest(await download)).toBe(digest(bytes))
  await relay.ended
  expect(relay.exitCode()).toBe(0)
})

wholeOnly(test, 'variant')('a second signal does not wait for the download', async () => {
  const [begun, never] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const bytes = randomBytes(4 * MIB)
  const { url } = await publishWith(() => new Response(inPieces(bytes, begun.resolve, never.promise)))
  const download = curl(relay.caFile, '--fail', url).catch(String)
  await begun.promise
  process.kill(relay.pid, 'SIGTERM')
  process.kill(relay.pid, 'SIGINT')
  await relay.ended
  expect(relay.exitCode()).toBe(0)
  expect(await download).toMatch(/curl: \(/)
})

for (const how of ['by itself', 'on SIGHUP'] as const) {
  const oneOf = how === 'by itself' ? test : wholeOnly(test, 'variant')
  oneOf(`new certificates are taken up ${how}, and sites follow without losing a visitor`, async () => {
    const { url } = await publishWith(() => new Response('here'))
    const visit = async (): Promise<string> => String(await curl(relay.caFile, url))
    expect(await visit()).toBe('here')
    const before = await shownFor(new URL(url).hostname)
    const after = await replaceCertificates(path.dirname(relay.caFile))
    if (how === 'on SIGHUP') process.kill(relay.pid, 'SIGHUP')
    await expect(async () => expect(await shownFor(ROOT_HOST)).toBe(after)).toPass()
    // The site has the old ones until it asks, and the relay still signs for them.
    expect([before, after]).toContain(await shownFor(new URL(url).hostname))
    expect(await visit()).toBe('here')
  })
}

wholeOnly(test, 'faults')(
  'a site learns of certificates that were replaced while the relay was away',
  async () => {
    const { url } = await publishWith(() => new Response('here'))
    const directory = path.dirname(relay.caFile)
    const { port } = new URL(relay.url)
    // The site asks for them no more often than every ten seconds.
    await setTimeout(10_000)
    process.kill(relay.pid, 'SIGKILL')
    await relay.ended
    const after = await replaceCertificates(directory)
    const first = relay
    const second = await startTestRelay({ port: Number(port), env: { IDENTITY_PATH: directory } })
    relay = { ...second, caFile: first.caFile }
    await expect.poll(() => curl(relay.caFile, url).then(String, String)).toBe('here')
    expect(await shownFor(new URL(url).hostname)).toBe(after)
    await first.stop()
  },
)

/** Sends the first piece, and the others when it may go on. */
function inPieces(bytes: Buffer, begun: () => void, mayGoOn: Promise<void>): ReadableStream<Uint8Array> {
  let piece = 0
  return new ReadableStream({
    async pull(controller) {
      if (piece === 1) {
        begun()
        await mayGoOn
      }
      if (piece === PIECES) return controller.close()
      const size = bytes.length / PIECES
      controller.enqueue(bytes.subarray(piece * size, (piece + 1) * size))
      piece += 1
    },
  })
}

/** Replaces the certificates by a pair that OpenSSL makes. @returns its key */
async function replaceCertificates(directory: string): Promise<string> {
  const file = (name: string): string => path.join(directory, name)
  const names = `subjectAltName=DNS:${ROOT_HOST},DNS:*.${ROOT_HOST}`
  const issuer = [
    '-CA',
    file('ca.pem'),
    '-CAkey',
    file('ca-key.pem'),
    '-days',
    '90',
    '-subj',
    `/CN=${ROOT_HOST}`,
  ]
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    file('privatekey.pem'),
  ]
  const leaf = [
    '-addext',
    names,
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-out',
    file('fullchain.pem'),
  ]
  await promisify(execFile)('openssl', ['req', '-x509', ...issuer, ...key, ...leaf])
  return keyOf(await readFile(file('fullchain.pem'), 'utf8'))
}

/** @returns the key of the leaf that OpenSSL gets, and verifies */
async function shownFor(serverName: string): Promise<string> {
  const where = ['-connect', `127.0.0.1:${new URL(relay.url).port}`, '-servername', serverName]
  const trust = ['-CAfile', relay.caFile, '-verify_return_error']
  const client = spawn('openssl', ['s_client', ...where, ...trust], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  client.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(client, 'close')
  expect(output).toContain('Verify return code: 0 (ok)')
  return keyOf(output.slice(output.indexOf('-----BEGIN')))
}

/** The certificate that a site presents may name the site alone, but has the relay's key in any case. */
function keyOf(pem: string): string {
  return new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' }).toString('hex')
}
