// The WHATWG streams of a stream: the same bytes, the same back-pressure, the same ends.

import { expect, test } from 'vitest'
import { readableOf, writableOf } from '../src/web-streams.ts'
import { pattern, readAll } from './support/bytes.ts'
import { pair } from './support/pair.ts'
import { hex, scripted, turn } from './support/scripted.ts'

const WINDOW = 256 * 1024

test('pipes both ways', async () => {
  const { client, server } = pair()
  const stream = await client.session.open()
  const far = await server.accept()
  void readableOf(far).pipeTo(writableOf(far))
  const bytes = pattern(1_000_000)
  const sending = new Blob([bytes.slice()]).stream().pipeTo(writableOf(stream))
  const back = new Uint8Array(
    await new Response(readableOf(stream) as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  )
  await sending
  expect(Buffer.compare(back, bytes)).toBe(0)
  await Promise.all([stream.closed, far.closed])
  expect([client.session.streamCount, server.session.streamCount]).toEqual([0, 0])
})

test('nothing is read ahead: a reader that does not pull stops the writer at the window', async () => {
  const { client, server } = pair()
  const stream = await client.session.open()
  const far = await server.accept()
  const readable = readableOf(far)
  const writer = writableOf(stream).getWriter()
  await writer.write(new Uint8Array(WINDOW))
  let done = false
  const one = writer.write(pattern(1)).then(() => {
    done = true
  })
  for (let i = 0; i < 10; i++) await turn()
  expect([done, readable.locked, writer.desiredSize]).toEqual([false, false, 0])
  void readable.pipeTo(new WritableStream())
  await one
})

test('before anyone pulls, the readable takes nothing', async () => {
  const { feed, streams } = scripted()
  await feed('00 01 0001 00000001 00000000')
  expect(readableOf(streams[0]!).locked).toBe(false)
  await feed('00 00 0000 00000001 00000001 61')
  expect(await streams[0]!.read()).toEqual(hex('61'))
})

test('a chunk does not lose its buffer to another: views of one message stay usable', async () => {
  const { feed, streams } = scripted()
  await feed('00 01 0001 00000001 00000000', '00 01 0001 00000003 00000000')
  const size = '00002000'
  await feed(
    Buffer.concat([
      hex(`00000000 00000001 ${size}`),
      pattern(8192, 1),
      hex(`00000000 00000003 ${size}`),
      pattern(8192, 2),
    ]),
  )
  const [first, second] = await Promise.all(streams.map((stream) => readableOf(stream).getReader().read()))
  expect(first?.value).toEqual(pattern(8192, 1))
  expect(second?.value).toEqual(pattern(8192, 2))
})

test('cancelling the readable, or aborting the writable, resets the stream', async () => {
  const { sent, session } = scripted({ role: 'client' })
  const [first, second] = [await session.open(), await session.open()]
  await sent()
  await readableOf(first).cancel('why')
  await writableOf(second).abort('why')
  expect(await sent()).toEqual(['00 01 0008 00000001 00000000', '00 01 0008 00000003 00000000'])
  expect([first.error?.cause, second.error?.cause]).toEqual(['why', 'why'])
})

test('a reset reaches both, even while nothing is written', async () => {
  const { feed, streams } = scripted()
  await feed('00 01 0001 00000001 00000000')
  const stream = streams[0]!
  const idle = new ReadableStream<Uint8Array>()
  const piping = expect(idle.pipeTo(writableOf(stream))).rejects.toMatchObject({ code: 'stream_reset' })
  const reading = expect(
    new Response(readableOf(stream) as ReadableStream<Uint8Array<ArrayBuffer>>).bytes(),
  ).rejects.toThrow()
  await feed('00 01 0008 00000001 00000000')
  await Promise.all([piping, reading])
})

test('closing the writable is half-close', async () => {
  const { client, server } = pair()
  const stream = await client.session.open()
  await writableOf(stream).getWriter().close()
  const far = await server.accept()
  expect(await readAll(far)).toEqual(new Uint8Array())
  await far.write(pattern(3))
  expect(await stream.read()).toEqual(pattern(3))
})
