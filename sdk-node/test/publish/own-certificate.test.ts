// The two ways to a certificate, compared: the relay's, for which the relay signs, and one with a key of the site's own. The
// same visitors come to both.

import { execFile } from 'node:child_process'
import { createHash, randomBytes, type X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { type NodePublishOptions, publish, type Site } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

const BODY = randomBytes(3_000_000)
const SUM = createHash('sha256').update(BODY).digest('hex')
const run = promisify(execFile)
const RUN = { timeout: 60_000, maxBuffer: 16_000_000 }

let relayKey: X509Certificate['publicKey']
let folder: string
let bodyFile: string

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  relayKey = (await shown('relay.localhost')).publicKey
  folder = await mkdtemp(join(tmpdir(), 'svc-own-certificate-'))
  bodyFile = join(folder, 'body')
  await writeFile(bodyFile, BODY)
})
afterAll(() => rm(folder, { recursive: true }))

async function handler(request: Request): Promise<Response> {
  if (request.method === 'GET')
    return new Response(new URL(request.url).pathname === '/body' ? BODY : 'hello')
  if (new URL(request.url).pathname === '/early') return new Response('later', { status: 202 })
  const hash = createHash('sha256').update(new Uint8Array(await request.arrayBuffer()))
  return new Response(hash.digest('hex'))
}

/** Publishes, and waits for the site's own certificate where it is to have one. */
async function publishSite(options: Partial<NodePublishOptions> & { name: string }): Promise<Site> {
  const own = Promise.withResolvers<void>()
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identityPath: join(folder, 'identity.json'),
    fetch: handler,
    debug: ({ type }) => type === 'certificate' && own.resolve(),
    ...options,
  })
  if (options.certificate !== 'shared') await own.promise
  return site
}

async function handshake(servername: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: relay.port, host: '127.0.0.1', servername, ca: relay.ca, ...options })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  return socket
}

async function shown(servername: string): Promise<X509Certificate> {
  const socket = await handshake(servername)
  const certificate = socket.getPeerX509Certificate()!
  socket.destroy()
  return certificate
}

/** A session that a later connection can resume. */
async function sessionOf(host: string): Promise<Buffer> {
  const socket = await handshake(host)
  const [session] = await Promise.all([
    once(socket, 'session'),
    socket.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  ])
  socket.resume()
  return session[0] as Buffer
}

describeVariants('a site whose certificate is %s', ['shared', 'own'] as const, (certificate) => {
  const name = certificate
  const host = `${name}.relay.localhost`
  let site: Site
  let url: string
  beforeAll(async () => {
    site = await publishSite({ name, certificate })
    url = `https://${host}:${relay.port}`
  })
  afterAll(() => site.close())

  const curl = async (...args: string[]): Promise<string> =>
    (await run('curl', ['--silent', '--show-error', '--fail', '--cacert', relay.caFile, ...args], RUN)).stdout
  const openssl = async (...args: string[]): Promise<string> => {
    const where = ['-connect', `127.0.0.1:${relay.port}`, '-servername', host, '-verify_hostname', host]
    const trust = ['-CAfile', relay.caFile, '-verify_return_error', '-ign_eof']
    const client = run('openssl', ['s_client', ...where, ...trust, ...args], RUN)
    client.child.stdin!.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    return await client.then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    )
  }

  it('shows a certificate of its hostnames, with the key of the one who signs', async () => {
    const { publicKey, subjectAltName } = await shown(host)
    expect(publicKey.equals(relayKey)).toBe(certificate === 'shared')
    expect(subjectAltName).toMatch(new RegExp(`^DNS:${host}, DNS:${name}-[0-9a-f]{40}\\.relay\\.localhost$`))
  })

  it.each([
    ['HTTP/1.1', ['--http1.1'], '1.1'],
    ['HTTP/2', ['--http2'], '2'],
  ])('answers curl over %s before it has read 3 MB', async (_, version) => {
    const upload = ['--data-binary', `@${bodyFile}`, '--max-time', '30']
    expect(await curl(...version, ...upload, `${url}/early`)).toBe('later')
  })

  it.each([
    ['HTTP/1.1', ['--http1.1'], '1.1'],
    ['HTTP/2', ['--http2'], '2'],
  ])('serves curl over %s, and takes and gives 3 MB', async (_, version, expected) => {
    expect(await curl(...version, '--write-out', ' %{http_version}', url)).toBe(`hello ${expected}`)
    expect(await curl(...version, '--data-binary', `@${bodyFile}`, url)).toBe(SUM)
    const file = join(folder, 'received')
    await curl(...version, '--output', file, `${url}/body`)
    expect(
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ).toBe(SUM)
  })

  it.each([
    [['-ciphersuites', 'TLS_AES_128_GCM_SHA256'], 'TLS_AES_128_GCM_SHA256'],
    [['-ciphersuites', 'TLS_AES_256_GCM_SHA384'], 'TLS_AES_256_GCM_SHA384'],
    [['-ciphersuites', 'TLS_CHACHA20_POLY1305_SHA256'], 'TLS_CHACHA20_POLY1305_SHA256'],
    [['-groups', 'P-256'], 'TLS_AES_128_GCM_SHA256'],
    [['-groups', 'P-384'], 'TLS_AES_128_GCM_SHA256'],
    // a HelloRetryRequest
    [['-groups', 'P-521:X25519'], 'TLS_AES_128_GCM_SHA256'],
  ])('serves openssl %j', async (args, suite) => {
    const said = await openssl(...args)
    expect(said).toContain(`Cipher is ${suite}`)
    expect(said).toContain('Verify return code: 0 (ok)')
    expect(said).toMatch(/\r\n\r\nhello/)
  })

  it('refuses clients that know nothing newer than TLS 1.2', async () => {
    expect(await openssl('-tls1_2')).toMatch(/alert protocol version/)
  })

  it('refuses one that takes no signature of its key', async () => {
    expect(await openssl('-sigalgs', 'ed25519')).toMatch(/alert handshake failure/)
  })

  it('resumes sessions of Node', async () => {
    const session = await sessionOf(host)
    const again = await handshake(host, { session })
    expect(again.isSessionReused()).toBe(true)
    again.destroy()
  })

  it('serves 50 new visitors at once', async () => {
    const visitors = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = await handshake(host)
        socket.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
        return String(Buffer.concat(await socket.toArray()))
      }),
    )
    for (const answer of visitors) expect(answer).toMatch(/^HTTP\/1\.1 200 .*hello$/s)
  })

  it('answers 421 to HTTP/2 for another host over its connection', async () => {
    const socket = await handshake(host, { ALPNProtocols: ['h2'] })
    const session = connectHttp2(url, { createConnection: () => socket })
    const stream = session.request({ ':path': '/', ':authority': 'relay.localhost' })
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(421)
    session.destroy()
  })
})

describe('a key of its own', () => {
  it('is kept with its certificate in a file that only its owner may read, over a restart', async () => {
    const host = 'restart.relay.localhost'
    const first = await publishSite({ name: 'restart' })
    const before = await shown(host)
    await first.close()
    const file = `identity-restart@relay.localhost_${relay.port}.pem`
    expect(await readdir(folder)).toContain(file)
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
    const second = await publishSite({ name: 'restart' })
    expect((await shown(host)).fingerprint256).toBe(before.fingerprint256)
    await second.close()
  })

  it('serves TLS 1.2 where the site asks for it', async () => {
    const host = 'old.relay.localhost'
    const site = await publishSite({ name: 'old', tls: { minVersion: 'TLSv1.2' } })
    for (const ciphers of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
      const socket = await handshake(host, { maxVersion: 'TLSv1.2', ciphers })
      expect([socket.getProtocol(), socket.getCipher().name]).toEqual(['TLSv1.2', ciphers])
      // TLS 1.2 has no half-closed connections.
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(String(Buffer.concat(await socket.toArray()))).toMatch(/hello$/)
    }
    const socket = await handshake(host)
    expect(socket.getProtocol()).toBe('TLSv1.3')
    socket.destroy()
    await site.close()
  })

  it('of an identity that is in no file is in none either', async () => {
    const before = await readdir(folder)
    const identity = Uint8Array.from(randomBytes(32))
    const site = await publishSite({ name: 'memory', identity })
    expect((await shown('memory.relay.localhost')).publicKey.equals(relayKey)).toBe(false)
    await site.close()
    expect(await readdir(folder)).toEqual(before)
  })
})
