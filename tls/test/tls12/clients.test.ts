// TLS 1.2 with clients that are not in this process: openssl s_client, gnutls-cli, curl and Node.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { type ServerConfig, TlsError } from '../../src/index.ts'
import { makeIdentity } from '../support/certificates.ts'
import type { Handlers } from '../support/endpoint.ts'
import { exchange, listen } from '../support/loopback.ts'
import { syncCrypto } from '../support/sync-crypto.ts'

const run = promisify(execFile)
const identities = { ec: makeIdentity('ec'), rsa: makeIdentity('rsa'), ed25519: makeIdentity('ed25519') }
type KeyType = keyof typeof identities
const ca = Object.values(identities).map(({ pem }) => pem)
const configOf = (type: KeyType): ServerConfig => ({
  ...identities[type].tls12,
  alpn: ['http/1.1'],
})
const config = configOf('ec')
const echo: Handlers = { data: ({ tls }, bytes) => void tls.write(bytes) }

/** A body of many records. */
const LARGE_MIB: number = atDepth(8, 2)

const SUITES: [name: string, type: KeyType, code: number][] = [
  ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ec', 0xc02b],
  ['ECDHE-ECDSA-AES256-GCM-SHA384', 'ec', 0xc02c],
  ['ECDHE-ECDSA-CHACHA20-POLY1305', 'ec', 0xcca9],
  ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ed25519', 0xc02b],
  ['ECDHE-RSA-AES128-GCM-SHA256', 'rsa', 0xc02f],
  ['ECDHE-RSA-AES256-GCM-SHA384', 'rsa', 0xc030],
  ['ECDHE-RSA-CHACHA20-POLY1305', 'rsa', 0xcca8],
]

describe('openssl s_client', () => {
  interface Openssl {
    child: ChildProcess
    output(): string
  }

  function sClient(port: number, type: KeyType, ...options: string[]): Openssl {
    const target = ['-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-verify_return_error']
    const child = spawn('openssl', [
      's_client',
      ...target,
      '-CAfile',
      identities[type].file,
      '-tls1_2',
      ...options,
    ])
    onTestFinished(() => void child.kill())
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    return { child, output: () => output }
  }

  async function connected(options: string[], type: KeyType = 'ec', server = configOf(type)) {
    const { port, sessions } = await listen(server, echo)
    const client = sClient(port, type, ...options)
    await expect.poll(() => sessions[0]?.info).toBeDefined()
    return { ...client, session: sessions[0]! }
  }

  test.each(SUITES)('%s with a key of type %s', async (suite, type, cipherSuite) => {
    const { child, output, session } = await connected(['-cipher', suite], type)
    expect(session.info).toMatchObject({ version: 'TLSv1.2', cipherSuite })
    await expect.poll(output).toContain('Verify return code: 0 (ok)')
    await expect.poll(output).toContain('Extended master secret: yes')
    await expect.poll(output).toContain('Secure Renegotiation IS supported')
    child.stdin!.write('there and back\n')
    await expect.poll(output).toMatch(/^there and back$/m)
  })

  test.each([
    ['X25519', 0x001d],
    ['P-256', 0x0017],
    ['P-384', 0x0018],
  ])('group %s', async (group, code) => {
    const { output, session } = await connected(['-groups', group], 'rsa')
    expect(session.info!.group).toBe(code)
    await expect.poll(output).toContain('Verify return code: 0 (ok)')
  })

  test('RFC 5746 renegotiation is refused', async () => {
    const { child, output } = await connected([])
    child.stdin!.write('R\n')
    await expect.poll(output).toMatch(/RENEGOTIATING[\s\S]*no renegotiation/)
  })

  test('RFC 7507 a fallback', async () => {
    const { port, sessions } = await listen(config)
    const { output } = sClient(port, 'ec', '-fallback_scsv')
    await expect.poll(output).toContain('inappropriate fallback')
    expect(await sessions[0]!.closed).toMatchObject({ code: 'inappropriate_fallback' })
  })

  test('closes with close_notify', async () => {
    const { child, session } = await connected([])
    child.stdin!.end('Q\n')
    expect(await session.closed).toBeUndefined()
  })

  test('small fragments', async () => {
    const { child, output } = await connected(['-max_send_frag', '512', '-split_send_frag', '512'])
    const line = 'x'.repeat(5000)
    child.stdin!.write(`${line}\n`)
    await expect.poll(output).toContain(line)
  })
})

test.skipIf(spawnSync('gnutls-cli', ['--version']).error !== undefined)(
  'gnutls-cli without an extended master secret is served, and nothing is exported',
  async () => {
    const { port, sessions } = await listen(config, echo)
    const priority = 'NORMAL:-VERS-ALL:+VERS-TLS1.2:%NO_SESSION_HASH'
    const target = ['--x509cafile', identities.ec.file, '--port', `${port}`, 'localhost']
    const child = spawn('gnutls-cli', ['--priority', priority, ...target])
    onTestFinished(() => void child.kill())
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stdin.write('there and back\n')
    await expect.poll(() => output).toMatch(/^there and back$/m)
    const [{ tls, info }] = sessions as [(typeof sessions)[0]]
    expect(info).toMatchObject({ version: 'TLSv1.2' })
    const exported = () => tls.exportKeyingMaterial('EXPORTER-test', undefined, 32)
    expect(exported).toThrow(expect.objectContaining({ code: 'no_exporter' }))
  },
)

describe('Node', () => {
  const client = (port: number, options: ConnectionOptions = {}): TLSSocket =>
    connect({ port, host: '127.0.0.1', servername: 'localhost', ca, maxVersion: 'TLSv1.2', ...options })

  async function hello(options: ConnectionOptions = {}, server = config, chunk?: number) {
    const { port, sessions } = await listen(server, echo, chunk)
    const socket = client(port, options)
    await once(socket, 'secureConnect')
    socket.write('hello')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toBe('hello')
    return { socket, session: sessions[0]! }
  }

  test.each(['ec', 'rsa', 'ed25519'] as const)(
    'a key of type %s, and close_notify of both sides',
    async (type) => {
      const { socket, session } = await hello({ ALPNProtocols: ['h2', 'http/1.1'] }, configOf(type))
      expect([socket.authorized, socket.getProtocol(), socket.alpnProtocol]).toEqual([
        true,
        'TLSv1.2',
        'http/1.1',
      ])
      expect(socket.getCipher().name).toContain(type === 'rsa' ? 'ECDHE-RSA' : 'ECDHE-ECDSA')
      socket.end()
      expect(await session.closed).toBeUndefined()
    },
  )

  test('a synchronous provider', async () => {
    const { socket } = await hello({}, { ...config, crypto: syncCrypto })
    socket.destroy()
  })

  test('input in single bytes', async () => {
    const { socket } = await hello({}, config, 1)
    socket.destroy()
  })

  test('RFC 5705 both sides export the same', async () => {
    const { socket, session } = await hello()
    const context = randomBytes(20)
    for (const given of [undefined, Buffer.alloc(0), context]) {
      const theirs = socket.exportKeyingMaterial(32, 'Svc-MITM-Probe-v1', given as Buffer)
      expect(session.tls.exportKeyingMaterial('Svc-MITM-Probe-v1', given, 32)).toEqual(new Uint8Array(theirs))
    }
    socket.destroy()
  })

  test('a client of both versions gets TLS 1.3', async () => {
    const { socket, session } = await hello({ maxVersion: 'TLSv1.3' })
    expect(session.info).toMatchObject({ version: 'TLSv1.3' })
    socket.destroy()
  })

  test('RFC 8446 §4.1.3 a client of both, whose hello somebody changed on the way, notices', async () => {
    const { port, sessions } = await listen(config)
    // supported_versions: TLS 1.3 and 1.2.
    const [both, only12] = ['002b00050403040303', '002b00050403030303'].map((text) =>
      Buffer.from(text, 'hex'),
    )
    const attacker = createServer((downstream) => {
      const upstream = connectTcp(port, '127.0.0.1')
      // The client leaves, and what is still on its way has nowhere to go.
      for (const socket of [downstream, upstream]) socket.on('error', () => {})
      downstream.once('data', (hello: Buffer) => {
        only12!.copy(hello, hello.indexOf(both!))
        upstream.write(hello)
        downstream.pipe(upstream).pipe(downstream)
      })
    })
    onTestFinished(() => void attacker.close())
    await once(attacker.listen(0, '127.0.0.1'), 'listening')
    const socket = client((attacker.address() as AddressInfo).port, { maxVersion: 'TLSv1.3' })
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toMatch(/inappropriate fallback/)
    expect(await sessions[0]!.closed).toBeInstanceOf(TlsError)
    expect(sessions[0]!.info).toBeUndefined()
  })

  test.each([
    ['AES-128-GCM', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['CHACHA20-POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ])(`${LARGE_MIB} MiB each way under %s`, async (_, ciphers) => {
    await exchange(config, (port) => client(port, { ciphers }), LARGE_MIB)
  })

  test('leaves while the signature is awaited: the signer is told', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const { port, sessions } = await listen({
      ...config,
      signTls12: (_, signal) => {
        asked.resolve(signal)
        return new Promise(() => {})
      },
    })
    const socket = client(port)
    socket.on('error', () => {})
    const signal = await asked.promise
    socket.destroy()
    expect(await sessions[0]!.closed).toMatchObject({ code: 'truncated' })
    expect(signal.aborted).toBe(true)
  })
})

describe('curl --tls-max 1.2', () => {
  const page: Handlers = {
    data: ({ tls }) => {
      void tls.write(
        new TextEncoder().encode('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'),
      )
      void tls.end()
    },
  }
  const get = (port: number, type: KeyType, ...options: string[]) => {
    const resolve = ['--resolve', `localhost:${port}:127.0.0.1`, '--noproxy', '*']
    const trust = ['--cacert', identities[type].file, '--tls-max', '1.2']
    return run('curl', ['-sS', ...resolve, ...trust, ...options, `https://localhost:${port}/`])
  }

  test.each(['ec', 'rsa', 'ed25519'] as const)('a key of type %s', async (type) => {
    const { port, sessions } = await listen(configOf(type), page)
    expect((await get(port, type)).stdout).toBe('ok')
    expect(sessions[0]!.info).toMatchObject({
      version: 'TLSv1.2',
      alpn: 'http/1.1',
      serverName: 'localhost',
    })
  })

  test('without a signer for TLS 1.2', async () => {
    const { port, sessions } = await listen({ ...config, signTls12: undefined }, page)
    await expect(get(port, 'ec')).rejects.toThrow(/protocol version/)
    expect(await sessions[0]!.closed).toMatchObject({ code: 'protocol_version' })
  })
})
