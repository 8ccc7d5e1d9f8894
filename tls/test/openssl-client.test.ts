// The engine against clients that are not in this process: openssl s_client and curl.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ServerConfig, TicketSealer } from '../src/index.ts'
import { makeIdentity } from './support/certificates.ts'
import type { Handlers } from './support/endpoint.ts'
import { listen } from './support/loopback.ts'

const run = promisify(execFile)
const ec = makeIdentity('ec')
const rsa = makeIdentity('rsa')
const config: ServerConfig = { ...ec.config, alpn: ['http/1.1'] }
const echo: Handlers = { data: ({ tls }, bytes) => void tls.write(bytes) }

interface Openssl {
  child: ChildProcess
  output(): string
}

/** `openssl s_client`, verifying the certificate, its input left open. */
function sClient(port: number, ...options: string[]): Openssl {
  const target = ['-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-verify_return_error']
  const child = spawn('openssl', ['s_client', ...target, '-CAfile', ec.file, ...options])
  onTestFinished(() => void child.kill())
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return { child, output: () => output }
}

async function connected(options: string[], server: ServerConfig = config, handlers = echo) {
  const { port, sessions } = await listen(server, handlers)
  const client = sClient(port, ...options)
  await expect.poll(() => sessions[0]?.info).toBeDefined()
  return { ...client, session: sessions[0]!, port, sessions }
}

describe('openssl s_client', () => {
  test.each([
    ['X25519', 0x001d],
    ['P-256', 0x0017],
    ['P-384', 0x0018],
  ])('group %s', async (group, code) => {
    const { session, output } = await connected(['-groups', group])
    expect(session.info!.group).toBe(code)
    await expect.poll(output).toContain('Verify return code: 0 (ok)')
  })

  test('§4.1.4 HelloRetryRequest: only a share of a group that we do not have', async () => {
    const { session, output } = await connected([
      '-groups',
      'X448:P-256',
      '-msg',
      '-ciphersuites',
      'TLS_AES_256_GCM_SHA384',
    ])
    expect(session.info).toMatchObject({ group: 0x0017, cipherSuite: 0x1302 })
    await expect.poll(output).toContain('Verify return code: 0 (ok)')
    expect(output().match(/ClientHello/g)).toHaveLength(2)
  })

  test('closes with close_notify', async () => {
    const { child, session } = await connected([])
    child.stdin!.end('Q\n')
    expect(await session.closed).toBeUndefined()
  })

  test.each([
    ['K', 'and asks for ours'],
    ['k', 'and does not'],
  ])('§4.6.3 KeyUpdate %s from the client %s', async (command, _) => {
    const { child, output } = await connected(['-msg'])
    child.stdin!.write('before\n')
    await expect.poll(output).toContain('before')
    child.stdin!.write(`${command}\n`)
    await expect.poll(output).toMatch(/KEYUPDATE|KeyUpdate/)
    child.stdin!.write('after\n')
    await expect.poll(output).toMatch(/after/)
    const received = output().match(/<<< TLS 1.3, Handshake \[length 0005\], KeyUpdate/g) ?? []
    expect(received).toHaveLength(command === 'K' ? 1 : 0)
  })

  test('§5.5 our own KeyUpdate before a key is used up', async () => {
    const { child, output } = await connected(['-msg'], { ...config, limits: { recordsPerKey: 4 } })
    for (let i = 0; i < 12; i++) {
      child.stdin!.write(`line ${i}\n`)
      await expect.poll(output).toMatch(new RegExp(`^line ${i}$`, 'm'))
    }
    expect(
      output().match(/<<< TLS 1.3, Handshake \[length 0005\], KeyUpdate/g)!.length,
    ).toBeGreaterThanOrEqual(2)
  })

  test('§5.4 padded records', async () => {
    const { child, output } = await connected(['-record_padding', '512'])
    child.stdin!.write('padded\n')
    await expect.poll(output).toMatch(/^padded$/m)
  })

  test('small fragments', async () => {
    const { child, output } = await connected(['-max_send_frag', '512', '-split_send_frag', '512'])
    const line = 'x'.repeat(5000)
    child.stdin!.write(`${line}\n`)
    await expect.poll(output).toContain(line)
  })

  test('a client certificate is never asked for', async () => {
    const { output } = await connected(['-cert', ec.file, '-key', ec.file.replace('cert', 'key')])
    await expect.poll(output).toContain('No client certificate CA names sent')
  })

  test('only TLS 1.2', async () => {
    const { port, sessions } = await listen(config)
    const { output } = sClient(port, '-tls1_2')
    await expect.poll(output).toContain('alert protocol version')
    expect(await sessions[0]!.closed).toMatchObject({ code: 'protocol_version' })
  })

  test('resumes with a ticket', async () => {
    const server = { ...config, tickets: new TicketSealer() }
    const file = `${ec.file}.session`
    const { child, port, sessions } = await connected(['-sess_out', file], server)
    await expect.poll(() => existsSync(file)).toBe(true)
    child.stdin!.end('Q\n')
    await once(child, 'exit')
    const again = sClient(port, '-sess_in', file)
    await expect.poll(again.output).toContain('Reused, TLSv1.3')
    await expect.poll(() => sessions[1]?.info?.resumed).toBe(true)

    // §4.2.11.2: the binder then covers both hellos and the HelloRetryRequest.
    const retried = sClient(port, '-sess_in', file, '-groups', 'X448:P-256')
    await expect.poll(retried.output).toContain('Reused, TLSv1.3')
    await expect.poll(() => sessions[2]?.info).toMatchObject({ resumed: true, group: 0x0017 })
  })
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
  const get = (port: number, ...options: string[]) => {
    const resolve = ['--resolve', `localhost:${port}:127.0.0.1`, '--noproxy', '*']
    return run('curl', ['-sS', ...resolve, ...options, `https://localhost:${port}/`])
  }

  test.each([
    ['ECDSA', ec],
    ['RSA', rsa],
  ])('%s', async (_, identity) => {
    const { port, sessions } = await listen({ ...identity.config, alpn: ['http/1.1'] }, page)
    expect((await get(port, '--cacert', identity.file)).stdout).toBe('ok')
    expect(sessions[0]!.info).toMatchObject({ alpn: 'http/1.1', serverName: 'localhost' })
  })

  test('does not trust another certificate, and says so', async () => {
    const { port, sessions } = await listen(config, page)
    await expect(get(port, '--cacert', rsa.file)).rejects.toThrow(/certificate/)
    expect(await sessions[0]!.closed).toMatchObject({ code: 'alert_received', alert: 48 })
  })
})
