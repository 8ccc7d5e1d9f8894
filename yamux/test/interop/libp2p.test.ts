// Interop with @libp2p/yamux, both roles.

import { type YamuxMuxerInit, yamux } from '@libp2p/yamux'
import { expect, onTestFinished, test } from 'vitest'
import { Session, type SessionOptions } from '../../src/index.ts'
import { echo, pattern, readAll, readBytes } from '../support/bytes.ts'

type Muxer = ReturnType<ReturnType<ReturnType<typeof yamux>>['createStreamMuxer']>
type Connection = Parameters<ReturnType<ReturnType<typeof yamux>>['createStreamMuxer']>[0]
type TheirStream = Awaited<ReturnType<Muxer['createStream']>>

const BYTES = 2_000_000

/** As little of a libp2p connection as the muxer uses: it sends here, and listens for messages. */
class FakeConnection extends EventTarget {
  readonly direction: 'inbound' | 'outbound'
  readonly log = Object.assign(() => {}, { trace() {}, error() {}, enabled: false, newScope: () => this.log })
  deliver: (bytes: Uint8Array) => void = () => {}

  constructor(direction: 'inbound' | 'outbound') {
    super()
    this.direction = direction
  }

  send(bytes: { subarray(): Uint8Array }): boolean {
    const message = bytes.subarray()
    setImmediate(() => this.deliver(message))
    return true
  }

  receive(data: Uint8Array): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }

  abort(): void {}
}

function join(role: 'client' | 'server', options: Partial<SessionOptions> = {}, theirs: YamuxMuxerInit = {}) {
  const connection = new FakeConnection(role === 'client' ? 'inbound' : 'outbound')
  const muxer = yamux({ enableKeepAlive: false, ...theirs })().createStreamMuxer(
    connection as unknown as Connection,
  )
  const session = new Session(
    { send: (message) => void setImmediate(() => connection.receive(message)), close() {} },
    { ...options, role },
  )
  connection.deliver = (bytes) => session.receive(bytes)
  onTestFinished(() => session.close())
  return { muxer, session }
}

function echoTheirs(stream: TheirStream): void {
  stream.addEventListener('message', (event) => {
    stream.send(event.data)
  })
  stream.addEventListener('remoteCloseWrite', () => void stream.close())
}

test('we open, they echo and end when we do', async () => {
  const { muxer, session } = join('client')
  muxer.addEventListener('stream', (event) => echoTheirs(event.detail))
  expect(await session.ping()).toBeGreaterThan(0)

  const streams = await Promise.all(Array.from({ length: 8 }, () => session.open()))
  const backs = await Promise.all(
    streams.map(async (stream, i) => {
      const [back] = await Promise.all([readBytes(stream, BYTES / 8), stream.write(pattern(BYTES / 8, i))])
      await stream.end()
      expect(await stream.read()).toBeUndefined()
      return Buffer.compare(back, pattern(BYTES / 8, i))
    }),
  )
  expect(backs).toEqual(Array(8).fill(0))
  await Promise.all(streams.map((stream) => stream.closed))
  expect([session.streamCount, muxer.streams.length]).toEqual([0, 0])
})

test('they open, we echo, and our end loses none of the data before it', async () => {
  const { muxer, session } = join('server', { onStream: (stream) => void echo(stream) })
  const stream = await muxer.createStream()
  const chunks: Uint8Array[] = []
  const ended = new Promise((resolve) => stream.addEventListener('end', resolve))
  stream.addEventListener('message', (event) => void chunks.push(event.data.subarray()))
  for (let at = 0; at < BYTES; at += 100_000)
    if (!stream.send(pattern(BYTES).subarray(at, at + 100_000))) await stream.onDrain()
  await stream.close()
  await ended
  expect(Buffer.compare(Buffer.concat(chunks), pattern(BYTES))).toBe(0)
  expect(session.streamCount).toBe(0)
})

test('the windows that we let grow are used', async () => {
  const received = Promise.withResolvers<Uint8Array>()
  const { muxer } = join('server', {
    windowBytes: 1024 * 1024,
    onStream: (stream) => void readAll(stream).then(received.resolve, received.reject),
  })
  const stream = await muxer.createStream()
  if (!stream.send(pattern(BYTES))) await stream.onDrain()
  await stream.close()
  expect(Buffer.compare(await received.promise, pattern(BYTES))).toBe(0)
})

test('a reset reaches the other side, either way', async () => {
  const { muxer, session } = join('client')
  const theirs = new Promise<TheirStream>((resolve) =>
    muxer.addEventListener('stream', (event) => resolve(event.detail)),
  )
  const first = await session.open()
  await first.write(pattern(1))
  const far = await theirs
  const closed = new Promise((resolve) => far.addEventListener('close', resolve))
  first.abort()
  await closed
  expect(far.status).toBe('reset')

  const second = await session.open()
  await second.write(pattern(1))
  await new Promise((resolve) => setTimeout(resolve, 10))
  for (const stream of muxer.streams) stream.abort(new Error('enough'))
  await second.closed
  expect(second.error?.code).toMatch(/stream_re(set|fused)/)
})

test('their close is a GoAway', async () => {
  const { muxer, session } = join('client')
  await muxer.close()
  await expect
    .poll(() => session.open().catch((error: unknown) => error))
    .toMatchObject({ code: 'peer_going_away' })
})
