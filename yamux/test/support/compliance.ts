// What holds over every transport. `connect` joins two sessions by one; each test closes what it opened.

import { describe, expect, test } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { echo, pattern, readAll, readBytes } from './bytes.ts'
import type { Peer } from './pair.ts'

export function compliance(
  name: string,
  connect: () => { client: Peer; server: Peer },
  /** Fewer for a slow transport. */
  count: { sequential: number; bulkBytes: number; properties: number },
): void {
  describe(`over ${name}`, () => {
    for (const [opener, accepter] of [
      ['client', 'server'],
      ['server', 'client'],
    ] as const) {
      test(`${opener} opens, and the streams are two-way, half-closed one by one`, async () => {
        const ends = connect()
        const stream = await ends[opener].session.open()
        await stream.write(pattern(1000))
        const far = await ends[accepter].accept()
        expect(await readBytes(far, 1000)).toEqual(pattern(1000))

        await stream.end()
        expect(await readAll(far)).toEqual(new Uint8Array())
        await far.write(pattern(100_000))
        await far.end()
        expect(Buffer.compare(await readAll(stream), pattern(100_000))).toBe(0)
        await Promise.all([stream.closed, far.closed])
        expect([ends.client.session.streamCount, ends.server.session.streamCount]).toEqual([0, 0])
        ends.client.session.close()
      })
    }

    test('abort resets the other end', async () => {
      const { client, server } = connect()
      const stream = await client.session.open()
      await stream.write(pattern(10))
      const far = await server.accept()
      stream.abort()
      await far.closed
      expect(far.error).toMatchObject({ code: 'stream_reset' })
      client.session.close()
    })

    test('ping measures', async () => {
      const { client, server } = connect()
      expect(await client.session.ping()).toBeGreaterThan(0)
      expect(await server.session.ping()).toBeGreaterThan(0)
      client.session.close()
    })

    test('a closed session takes its peer with it', async () => {
      const { client, server } = connect()
      const stream = await client.session.open()
      await server.accept()
      const reading = expect(stream.read()).rejects.toMatchObject({ code: 'transport_closed' })
      server.session.close()
      await reading
      expect(await client.session.closed).toMatchObject({ code: 'transport_closed' })
      expect(await server.session.closed).toBeUndefined()
    })

    test('bulk both ways at once, from one end and the other', async () => {
      const { client, server } = connect()
      const bytes = pattern(count.bulkBytes)
      const up = await client.session.open()
      const down = await server.session.open()
      const ends = await Promise.all([server.accept(), client.accept()])
      const echoes = ends.map(echo)
      const both = await Promise.all(
        [up, down].map(async (stream) => {
          const [back] = await Promise.all([readAll(stream), stream.write(bytes).then(() => stream.end())])
          return Buffer.compare(back, bytes)
        }),
      )
      await Promise.all(echoes)
      expect(both).toEqual([0, 0])
      client.session.close()
    })

    test(`${count.sequential} streams one after another leave nothing`, async () => {
      const { client, server } = connect()
      void serve(server)
      for (let i = 0; i < count.sequential; i++) {
        const stream = await client.session.open()
        void stream.write(pattern(10, i))
        void stream.end()
        expect(await readAll(stream)).toEqual(pattern(10, i))
        await stream.closed
      }
      expect([client.session.streamCount, server.session.streamCount]).toEqual([0, 0])
      client.session.close()
    })

    test('256 streams at once keep apart', async () => {
      const { client, server } = connect()
      void serve(server)
      const streams = await Promise.all(Array.from({ length: 256 }, () => client.session.open()))
      const backs = await Promise.all(
        streams.map(async (stream, i) => {
          const [back] = await Promise.all([
            readAll(stream),
            stream.write(pattern(5000, i)).then(() => stream.end()),
          ])
          return Buffer.compare(back, pattern(5000, i))
        }),
      )
      expect(backs).toEqual(Array(256).fill(0))
      client.session.close()
    })

    test('whatever is written, in whatever pieces, arrives', async () => {
      const writes = fc.array(fc.nat({ max: 20_000 }), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(fc.array(writes, { minLength: 1, maxLength: 6 }), async (plans) => {
          const { client, server } = connect()
          const arrived = Promise.all(plans.map(async () => readAll(await server.accept())))
          await Promise.all(plans.map((sizes, i) => send(client, sizes, i)))
          const sums = (await arrived).map((bytes) => Buffer.from(bytes).toString('base64'))
          const sent = plans.map((sizes, i) =>
            Buffer.concat(sizes.map((size) => pattern(size, i))).toString('base64'),
          )
          expect(sums).toEqual(sent)
          client.session.close()
        }),
        { numRuns: count.properties },
      )
    })
  })
}

async function send(peer: Peer, sizes: number[], seed: number): Promise<void> {
  const stream = await peer.session.open()
  for (const size of sizes) await stream.write(pattern(size, seed))
  await stream.end()
}

async function serve(peer: Peer): Promise<never> {
  // When the client closes at the end of a test, an echo that is still running fails: that is no news.
  for (;;) echo(await peer.accept()).catch(() => {})
}
