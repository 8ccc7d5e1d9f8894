// Interop with yamux-js, both roles. It reads only whole frames, ignores our FIN, and knows no credit on read.

import { expect, onTestFinished, test } from 'vitest'
import { Client, Server, type Stream as TheirStream } from 'yamux-js'
import { Session, type Stream } from '../../src/index.ts'
import { echo, pattern, readBytes } from '../support/bytes.ts'

const CONFIG = { enableKeepAlive: false, logger: () => {} }
const BYTES = 600_000

type TheirEnd = InstanceType<typeof Client> | InstanceType<typeof Server>

function join(theirs: TheirEnd, role: 'client' | 'server', onStream?: (stream: Stream) => void): Session {
  const ours = new Session(
    { send: (message) => void theirs.write(message), close: () => theirs.close() },
    { role, onStream },
  )
  theirs.on('data', (bytes: Uint8Array) => ours.receive(bytes))
  onTestFinished(() => ours.close())
  return ours
}

function echoTheirs(stream: TheirStream): void {
  stream.on('data', (bytes: Uint8Array) => stream.write(bytes))
}

test('we open, they echo', async () => {
  const streams: TheirStream[] = []
  const theirs = new Server((stream) => {
    streams.push(stream as TheirStream)
    echoTheirs(stream as TheirStream)
  }, CONFIG)
  const ours = join(theirs, 'client')
  expect(await ours.ping()).toBeGreaterThan(0)

  const opened = await Promise.all(Array.from({ length: 8 }, () => ours.open()))
  const backs = await Promise.all(
    opened.map(async (stream, i) => {
      const [back] = await Promise.all([readBytes(stream, BYTES), stream.write(pattern(BYTES, i))])
      return Buffer.compare(back, pattern(BYTES, i))
    }),
  )
  expect(backs).toEqual(Array(8).fill(0))

  for (const stream of streams) stream.close()
  await Promise.all(opened.map(async (stream) => expect(await stream.read()).toBeUndefined()))
  await Promise.all(opened.map((stream) => stream.end()))
  await Promise.all(opened.map((stream) => stream.closed))
  expect(ours.streamCount).toBe(0)
})

test('they open, we echo and end', async () => {
  const theirs = new Client(CONFIG)
  const ended = Promise.withResolvers<void>()
  join(theirs, 'server', (stream) => void echo(stream).then(ended.resolve, ended.reject))
  const stream = theirs.open()
  const chunks: Uint8Array[] = []
  const arrived = new Promise<void>((resolve) => {
    let got = 0
    stream.on('data', (bytes: Uint8Array) => {
      chunks.push(bytes)
      got += bytes.length
      if (got === BYTES) resolve()
    })
  })
  stream.write(pattern(BYTES))
  await arrived
  expect(Buffer.compare(Buffer.concat(chunks), pattern(BYTES))).toBe(0)
  stream.close()
  await ended.promise
})

test('our close ends their session', async () => {
  const theirs = new Server(() => {}, CONFIG)
  const ours = join(theirs, 'client')
  ours.close()
  expect(theirs.isClosed()).toBe(true)
})
