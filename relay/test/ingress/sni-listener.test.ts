// Tests that the SNI listener closes connections that are not TLS or name no known host, and that no other is affected.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RegisterResponse } from '@svc/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import { ROOT_HOST, readAll, startTestRelay } from '../support/relay.ts'

let lease: RegisterResponse
let carrier: TestCarrier

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  lease = await relay.register('demo')
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
})

/** A fatal alert record (RFC 8446 §5.1, §6). */
const alert = (description: number) => Buffer.of(21, 3, 3, 0, 2, 2, description)

/** After whatever a test did, a visitor of the lease still gets through. */
async function stillServes(): Promise<void> {
  const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
  expect(await read(1)).toEqual(Buffer.of(0))
  const visitor = relay.tls(lease.hostname)
  expect(await read(1)).toEqual(Buffer.of(0x02))
  visitor.destroy()
  stream.abort()
}

/** @returns the status for OpenSSL's client, which checks that the certificate is the root host's */
async function ask(name: readonly string[], path: string, host: string): Promise<number> {
  const ca = join(relay.directory, 'ca.pem')
  const checks = ['-CAfile', ca, '-verify_hostname', ROOT_HOST, '-verify_return_error']
  const args = ['s_client', '-connect', `127.0.0.1:${relay.port}`, '-quiet', ...checks, ...name]
  const client = spawn('openssl', args, { stdio: ['pipe', 'pipe', 'ignore'] })
  client.stdin.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return Number((await text(client.stdout)).slice(9, 12))
}

async function send(...pieces: Buffer[]): Promise<Buffer> {
  const socket = await relay.tcp()
  const answer = readAll(socket)
  for (const piece of pieces) {
    socket.write(piece)
    await sleep(1)
  }
  return await answer
}

describe('what is not for anybody here', () => {
  test('plain HTTP, random bytes and an SSH banner are closed', async () => {
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: relay.localhost\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      '\0'.repeat(64),
    ])
      expect((await send(Buffer.from(bytes))).length).toBeLessThanOrEqual(alert(0).length)
    await stillServes()
  })

  test('a TLS record that is not a ClientHello gets an alert', async () => {
    expect((await send(Buffer.from('1603010005020000010a', 'hex'))).subarray(0, 6)).toEqual(
      alert(0).subarray(0, 6),
    )
    await stillServes()
  })

  test('an unknown host gets unrecognized_name (RFC 6066 §3) (protocol §9.1.3)', async () => {
    for (const name of ['nobody.relay.localhost', 'relay.example', 'deep.demo.relay.localhost'])
      expect(await send(await captureHello(name))).toEqual(alert(112))
    await stillServes()
  })

  test('a handshake message that claims more than 64 KiB is refused at once (protocol §9.1.1)', async () => {
    expect((await send(Buffer.from('16030100040101000f', 'hex'))).at(-1)).toBeDefined()
    await stillServes()
  })

  test('a ClientHello that stops half-way is cut 2 s after its first byte', async () => {
    const started = Date.now()
    const hello = await captureHello(lease.hostname)
    expect(await send(hello.subarray(0, 50))).toEqual(Buffer.alloc(0))
    expect(Date.now() - started).toBeGreaterThan(1_900)
    await stillServes()
  })
})

describe('what is for somebody here', () => {
  // The clients of Go and Kubernetes leave the name out where they know an address; others send the address.
  test.each([{ name: ['-noservername'] }, { name: ['-servername', '127.0.0.1'] }])(
    'a client that knows an address reaches the root host: $name (protocol §2.1.5)',
    async ({ name }) => {
      const { port } = relay
      expect(await ask(name, '/api/healthz', `${ROOT_HOST}:${port}`)).toBe(200)
      expect(await ask(name, '/api/healthz', `127.0.0.1:${port}`)).toBe(200)
      expect(await ask(name, '/', '127.0.0.1')).toBe(200)
      expect(await ask(name, '/', '[::1]:443')).toBe(200)
      // neither what acts, nor a site
      expect(await ask(name, '/sdk/domain', '127.0.0.1')).toBe(421)
      expect(await ask(name, '/api/healthz', lease.hostname)).toBe(421)
      await stillServes()
    },
  )

  test('the ClientHello is replayed whole, also when it came byte by byte and in several records (protocol §9.1.1, §9.1.5)', async () => {
    const hello = await captureHello(lease.hostname)
    const message = hello.subarray(5)
    const records = [message.subarray(0, 1), message.subarray(1, 60), message.subarray(60)].map((part) =>
      Buffer.concat([Buffer.of(0x16, 3, 1, part.length >> 8, part.length & 0xff), part]),
    )
    const drip = Array.from(hello.subarray(0, 80), (byte) => Buffer.of(byte))
    for (const pieces of [[hello], [...drip, hello.subarray(80)], records]) {
      const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
      expect(await read(1)).toEqual(Buffer.of(0))
      const visitor = await relay.tcp()
      for (const piece of pieces) {
        visitor.write(piece)
        await sleep(1)
      }
      expect(await read(1)).toEqual(Buffer.of(0x02))
      await read(16)
      const sent = Buffer.concat(pieces)
      expect(await read(sent.length)).toEqual(sent)
      visitor.destroy()
      stream.abort()
    }
  })

  test('bytes pass both ways and each direction ends by itself (protocol §7.5.5)', async () => {
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const hello = await captureHello(lease.hostname)
    const visitor = await relay.tcp()
    visitor.write(hello)
    await read(17 + hello.length)
    const answer = readAll(visitor)
    await stream.write(Buffer.from('po'))
    await expect.poll(() => visitor.bytesRead).toBe(2)
    visitor.end('ping')
    expect((await read(10)).toString()).toBe('ping')
    await stream.write(Buffer.from('ng'))
    await stream.end()
    expect((await answer).toString()).toBe('pong')
  })

  test('the server name is matched without regard to case', async () => {
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const visitor = await relay.tcp()
    visitor.write(await captureHello('DEMO.relay.LOCALHOST'))
    expect(await read(1)).toEqual(Buffer.of(0x02))
    visitor.destroy()
    stream.abort()
  })

  test('a visitor whose session breaks is cut off', async () => {
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const visitor = await relay.tcp()
    const answer = readAll(visitor)
    visitor.write(await captureHello(lease.hostname))
    await read(17)
    await stream.write(Buffer.from('half'))
    await expect.poll(() => visitor.bytesRead).toBe(4)
    stream.abort()
    expect((await answer).toString()).toBe('half')
  })

  test('a session that breaks before its first answer costs the visitor nothing: another is claimed', async () => {
    const capability = lease.reverse_endpoint.capability
    const second = await carrier.open(capability)
    await second.read(1)
    const first = await carrier.open(capability)
    await first.read(1)
    const hello = await captureHello(lease.hostname)
    const visitor = await relay.tcp()
    const answer = readAll(visitor)
    visitor.write(hello)
    const activations = []
    for (const { stream, read } of [first, second]) {
      activations.push(await read(17))
      expect(await read(hello.length)).toEqual(hello)
      if (stream === first.stream) stream.abort()
    }
    expect(activations.map(([marker]) => marker)).toEqual([0x02, 0x02])
    expect(activations[0]).not.toEqual(activations[1])
    await second.stream.write(Buffer.from('here'))
    await second.stream.end()
    visitor.end()
    expect((await answer).toString()).toBe('here')
  })

  test('a visitor who leaves before the first answer frees the session', async () => {
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const visitor = await relay.tcp()
    visitor.write(await captureHello(lease.hostname))
    await read(17)
    visitor.end()
    await stream.closed
    expect(stream.error).toMatchObject({ code: 'stream_reset' })
  })
})
