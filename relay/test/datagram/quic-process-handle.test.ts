// Tests the pipe between the relay and its QUIC process when an attacker has taken that process over.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FRAME, type Frame, FramePipe, FrameReader } from '../../src/features/datagrams/process-frames.ts'
import type { QuicConnection } from '../../src/features/datagrams/quic.ts'
import { startQuicProcess } from '../../src/features/datagrams/quic-process-handle.ts'

const CERTIFICATE = { chainPem: '', keyPem: '' }

const children: ChildProcess[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A process that runs `script` with `say(kind, connection, payload)`, `pipe` and `listening()`. */
function impostor(script: string): ChildProcess {
  const head = `
    const pipe = new (require('node:net').Socket)({ fd: 3 })
    pipe.on('error', () => {})
    const say = (kind, connection = 0, payload = '') => {
      const body = Buffer.from(payload)
      const head = Buffer.alloc(9)
      head.writeUInt32BE(body.length); head[4] = kind; head.writeUInt32BE(connection, 5)
      pipe.write(Buffer.concat([head, body]))
    }
    const listening = () => say(${FRAME.listening}, 0, '{"is_root":false}')
    setInterval(() => {}, 1000)
  `
  const child = spawn(process.execPath, ['-e', head + script], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  children.push(child)
  return child
}

async function started(script: string) {
  const accepted: QuicConnection[] = []
  const got: Buffer[] = []
  const dropped = vi.fn()
  const warnings: string[] = []
  const endpoint = await startQuicProcess(
    { port: 1, certificate: CERTIFICATE },
    {
      accept: (connection) => {
        accepted.push(connection)
        return {
          stream: (stream) =>
            void stream.on('error', () => {}).on('data', (bytes: Buffer) => got.push(bytes)),
          datagram: (bytes) => void got.push(Buffer.from(bytes)),
          closed: () => void got.push(Buffer.from('closed')),
        }
      },
      dropped,
      log: { warn: (text) => void warnings.push(text) },
    },
    impostor(script),
  )
  return { endpoint, accepted, got, dropped, warnings }
}

describe('a malformed frame ends the process', () => {
  test.each<[string, string]>([
    ['bytes that are no frame', 'pipe.write(Buffer.alloc(100, 0xff))'],
    ['a frame of more than 256 KiB', `say(${FRAME.dropped}, 0, Buffer.alloc(257 * 1024))`],
    ['a kind that there is not', 'say(99)'],
    ['a kind that is the relay’s own', `say(${FRAME.begin}, 0, '{}')`],
    ['a datagram of a connection that there is not', `say(${FRAME.datagram}, 7, 'x')`],
    ['an end of a connection that there is not', `say(${FRAME.closed}, 7)`],
    ['a connection from nowhere', `say(${FRAME.opened}, 1, 'somewhere')`],
    ['a connection twice', `say(${FRAME.opened}, 1, '::1'); say(${FRAME.opened}, 1, '::1')`],
    ['counts that are no JSON', `say(${FRAME.dropped}, 0, '{')`],
    ['counts that are none', `say(${FRAME.dropped}, 0, '{"queue_full":-1,"too_old":0,"unauthenticated":0}')`],
    ['a datagram without its time', `say(${FRAME.opened}, 1, '::1'); say(${FRAME.datagram}, 1, '1234567')`],
    ['a path of two bytes', `say(${FRAME.opened}, 1, '::1'); say(${FRAME.path}, 1, 'ab')`],
    ['more connections than there may be', `for (let n = 0; n < 16385; n++) say(${FRAME.opened}, n, '::1')`],
  ])('%s', async (_name, script) => {
    const { endpoint } = await started(`listening(); ${script}`)
    expect(await endpoint.ended).toBe('it sent a malformed frame')
  })

  test('also before it listens', async () => {
    await expect(started(`say(${FRAME.listening}, 0, 'yes')`)).rejects.toThrow('it sent a malformed frame')
  })
})

test('a process that fails says why, with the system’s code', async () => {
  const failing = started(
    `say(${FRAME.failed}, 0, '{"message":"taken","code":"EADDRINUSE"}'); process.exitCode = 1`,
  )
  await expect(failing).rejects.toMatchObject({ message: 'taken', code: 'EADDRINUSE' })
})

test('a process that exits is over, with its connections', async () => {
  const script = `listening(); say(${FRAME.opened}, 1, '192.0.2.1'); setTimeout(() => process.exit(7), 200)`
  const { endpoint, got, accepted } = await started(script)
  expect(await endpoint.ended).toBe('exit code 7')
  expect(accepted.map(({ clientIp }) => clientIp)).toEqual(['192.0.2.1'])
  expect(got.map(String)).toEqual(['closed'])
  expect(accepted[0]!.send(Buffer.alloc(1))).toBe(false)
})

test('a program that cannot be started is an error', async () => {
  const child = spawn('/nonexistent/node', [], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const events = { accept: () => ({ stream() {}, datagram() {}, closed() {} }), dropped() {}, log: console }
  await expect(startQuicProcess({ port: 1, certificate: CERTIFICATE }, events, child)).rejects.toMatchObject({
    code: 'ENOENT',
  })
})

test('one that does not answer for 15 s is killed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const { endpoint } = await started('listening(); pipe.resume()')
  await vi.advanceTimersByTimeAsync(25_000)
  expect(await endpoint.ended).toBe('it does not answer')
})

test('one that answers is not', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const { endpoint } = await started(`listening(); pipe.on('data', () => say(${FRAME.pong}))`)
  let cause: string | undefined
  void endpoint.ended.then((text) => (cause = text))
  for (let seconds = 0; seconds < 30; seconds += 5) {
    await vi.advanceTimersByTimeAsync(5_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(cause).toBeUndefined()
})

test('one that has not given up root is told of, and what it dropped is counted', async () => {
  const root = `say(${FRAME.listening}, 0, '{"is_root":true}')`
  const counts = '{"queue_full":3,"too_old":5,"unauthenticated":4}'
  const { warnings, dropped } = await started(`${root}; say(${FRAME.dropped}, 0, '${counts}')`)
  expect(warnings[0]).toMatch('has the rights of root')
  await vi.waitUntil(() => dropped.mock.calls.length > 0)
  expect(dropped).toHaveBeenCalledWith({ queue_full: 3, too_old: 5, unauthenticated: 4 })
})

test('for one that takes nothing 8 MiB wait, and datagrams beyond that are dropped', async () => {
  const { accepted } = await started(`listening(); say(${FRAME.opened}, 1, '::1')`)
  await vi.waitUntil(() => accepted.length === 1)
  const before = process.memoryUsage().arrayBuffers
  const datagram = Buffer.alloc(1150)
  let taken = 0
  for (let count = 0; count < 100_000; count += 1) if (accepted[0]!.send(datagram)) taken += 1
  expect(taken * 1167).toBeGreaterThan(7 * 1024 * 1024)
  expect(taken * 1167).toBeLessThan(9 * 1024 * 1024)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
})

describe('frames', () => {
  test('arrive as they were sent, however the pipe cuts them', () => {
    const sent = Array.from({ length: 500 }, (_, at) => Buffer.alloc((at * 37) % 3000, at))
    const got: Frame[] = []
    const reader = new FrameReader((frame) => got.push({ ...frame, payload: Buffer.from(frame.payload) }))
    const bytes = Buffer.concat(
      sent.map((payload, at) => {
        const head = Buffer.alloc(9)
        head.writeUInt32BE(payload.length)
        head[4] = FRAME.datagram
        head.writeUInt32BE(at, 5)
        return Buffer.concat([head, payload])
      }),
    )
    for (let at = 0, size = 1; at < bytes.length; at += size, size = 1 + ((size * 7919) % 4000))
      expect(reader.push(bytes.subarray(at, at + size))).toBe(true)
    expect(got.map(({ payload }) => payload)).toEqual(sent)
    expect(got.map(({ connection }) => connection)).toEqual([...sent.keys()])
  })

  test('of one turn of the event loop leave in one write', async () => {
    const socket = new PassThrough()
    const write = vi.spyOn(socket, 'write')
    const pipe = new FramePipe(socket, { frame: () => {}, closed: () => {} })
    for (let count = 0; count < 100; count += 1) pipe.send(FRAME.datagram, 1, Buffer.alloc(10))
    expect(pipe.queuedBytes).toBe(1900)
    await new Promise((resolve) => setImmediate(resolve))
    expect(write).toHaveBeenCalledTimes(1)
    pipe.close()
    await once(socket, 'close')
  })
})
