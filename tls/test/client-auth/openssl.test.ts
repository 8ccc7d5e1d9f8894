// Client certificates with clients that are not in this process: openssl s_client and curl.

import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type CertificateOptions, PURPOSE, TestAuthority } from '../../../tools/tls/test-authority.ts'
import { clientAuthentication } from '../../src/client-auth/client-auth.ts'
import type { ServerConfig } from '../../src/index.ts'
import { makeIdentity } from '../support/certificates.ts'
import type { Handlers, Session } from '../support/endpoint.ts'
import { listen } from '../support/loopback.ts'

const directory = mkdtempSync(join(tmpdir(), 'client-auth-'))
afterAll(() => rmSync(directory, { recursive: true }))
const server = makeIdentity('ec')
const root = TestAuthority.root()
const middle = root.intermediate()
const revoked = root.client({ name: 'Mallory' })
const crl = root.revocationList([revoked]) + middle.revocationList([])
const past = new Date(Date.now() - 3_600_000)

type Options = Partial<Parameters<typeof clientAuthentication>[0]>
const configOf = (options: Options = {}): ServerConfig => ({
  ...server.tls12,
  alpn: ['http/1.1'],
  clientCertificates: clientAuthentication({ ca: root.pem, required: true, ...options }),
})

let files = 0
function file(content: string): string {
  const path = join(directory, `${files++}.pem`)
  writeFileSync(path, content)
  return path
}

function filesOf(client: TestAuthority, ...chain: TestAuthority[]): string[] {
  const options = ['-cert', file(client.pem), '-key', file(client.keyPem)]
  return chain.length === 0
    ? options
    : [...options, '-cert_chain', file(chain.map(({ pem }) => pem).join(''))]
}

async function connected(version: string, options: string[], config: ServerConfig) {
  const { port, sessions } = await listen(config)
  const target = ['-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-CAfile', server.file]
  const child = spawn('openssl', ['s_client', version, ...target, ...options])
  onTestFinished(() => void child.kill())
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  await expect.poll(() => sessions.length).toBeGreaterThan(0)
  return { session: sessions[0]!, sessions, output: () => output }
}

const secured = async (session: Session) => {
  await expect.poll(() => session.info).toBeDefined()
  return session.info!
}

describe.each(['-tls1_3', '-tls1_2'])('openssl s_client %s', (version) => {
  test.each<[CertificateOptions['key']]>([['P-256'], ['P-384'], ['Ed25519'], ['RSA-2048']])(
    'a client with %s',
    async (key) => {
      const alice = root.client({ key: key! })
      const { session, output } = await connected(version, filesOf(alice), configOf())
      const { clientCertificate } = await secured(session)
      expect(clientCertificate).toMatchObject({ subject: 'CN=Alice', der: alice.der })
      await expect.poll(output).toMatch(/Acceptable client certificate CA names\nCN = Test CA/)
    },
  )

  test('below an intermediate CA', async () => {
    const { session } = await connected(version, filesOf(middle.client(), middle), configOf({ crl }))
    expect((await secured(session)).clientCertificate).toMatchObject({ issuer: 'CN=Intermediate' })
  })

  test('none, where none is needed', async () => {
    const { session } = await connected(version, [], configOf({ required: false }))
    expect((await secured(session)).clientCertificate).toBeUndefined()
  })

  test.each<[string, () => string[], string, Options]>([
    ['none', () => [], 'certificate required', {}],
    [
      'an expired one',
      () => filesOf(root.client({ notBefore: new Date(0), notAfter: past })),
      'certificate expired',
      {},
    ],
    ['one of another CA', () => filesOf(TestAuthority.root({ name: 'Other' }).client()), 'unknown ca', {}],
    ['one without its CA', () => filesOf(middle.client()), 'unknown ca', {}],
    [
      'one for servers',
      () => filesOf(root.client({ purposes: [PURPOSE.serverAuth] })),
      'unsupported certificate',
      {},
    ],
    ['a revoked one', () => filesOf(revoked), 'certificate revoked', { crl }],
    ['a forged one', () => filesOf(root.client({ isForged: true })), 'bad certificate', {}],
  ])('%s', async (_, options, alert, auth) => {
    const { session, output } = await connected(version, options(), configOf(auth))
    await expect.poll(output).toContain(`alert ${alert}`)
    expect(await session.closed).toMatchObject({ code: alert.replaceAll(' ', '_') })
    expect(session.info).toBeUndefined()
  })

  test('a session is not resumed, so that each connection is verified', async () => {
    const options = [...filesOf(root.client()), '-reconnect']
    const { sessions, output } = await connected(version, options, configOf())
    await expect.poll(() => sessions.filter(({ info }) => info?.clientCertificate).length).toBe(6)
    await expect.poll(() => output().match(/New, TLS/g)?.length).toBe(6)
    expect(output()).not.toContain('Reused')
  })
})

test('a client verifies now, and no longer when its certificate has expired', async () => {
  let now = Date.now()
  const config = configOf({ now: () => now })
  const options = filesOf(root.client())
  const first = await connected('-tls1_3', options, config)
  await secured(first.session)
  now += 2 * 3_600_000
  const second = await connected('-tls1_3', options, config)
  expect(await second.session.closed).toMatchObject({ code: 'certificate_expired' })
})

describe('curl', () => {
  const page: Handlers = {
    data: ({ tls }) => {
      void tls.write(
        new TextEncoder().encode('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'),
      )
      void tls.end()
    },
  }
  const get = async (config: ServerConfig, ...options: string[]) => {
    const { port } = await listen(config, page)
    const resolve = ['--resolve', `localhost:${port}:127.0.0.1`, '--noproxy', '*', '--cacert', server.file]
    return promisify(execFile)('curl', ['-sS', ...resolve, ...options, `https://localhost:${port}/`])
  }

  test('with and without a certificate', async () => {
    const alice = root.client()
    const options = ['--cert', file(alice.pem), '--key', file(alice.keyPem)]
    expect((await get(configOf(), ...options)).stdout).toBe('ok')
    await expect(get(configOf())).rejects.toThrow(/certificate required/)
    expect((await get(configOf({ required: false }))).stdout).toBe('ok')
  })
})
