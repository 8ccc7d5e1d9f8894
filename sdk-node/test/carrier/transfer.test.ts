// Many bytes both ways, by each carrier, with checksums; TRANSFER_MB says how many megabytes.

import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { CARRIERS } from '../../src/carrier/kinds.ts'
import type { Exposure } from '../../src/index.ts'
import {
  exposeAt,
  listening,
  TCP_PORTS,
  TCP_SETTINGS,
  TEST_TIMEOUT_MS,
  tcpServer,
  visit,
} from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'

const MB = 1_000_000
const BYTES: number = Number(process.env.TRANSFER_MB ?? atDepth(50, 6)) * MB
/** Bytes that the slowest machine of a user moves in a second, in both directions together. */
const SLOWEST = 2 * MB

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS + (BYTES / SLOWEST) * 1000 })

let exposure: Exposure
const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))
afterEach(() => exposure.close())

describeVariants('by the carrier %s', CARRIERS, (carrier) => {
  it(`${BYTES / MB} MB both ways at once come as they were sent, at a TCP port`, async () => {
    const [up, down] = [new Content(), new Content()]
    const received = Promise.withResolvers<string>()
    const service = tcpServer((socket) => {
      Readable.from(down.chunks()).pipe(socket)
      digestOf(socket).then(({ sha256 }) => received.resolve(sha256), received.reject)
    })
    exposure = await exposeAt(relay, { tcp: await listening(service), carrier })
    const port = Number(exposure.sites[0]!.tcpAddress!.split(':').at(-1))
    const visitor = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    Readable.from(up.chunks()).pipe(visitor)
    expect(await digestOf(visitor)).toEqual({ bytes: BYTES, sha256: down.sha256 })
    expect(await received.promise).toBe(up.sha256)
    service.close()
  })

  it(`${BYTES / MB} MB each way come as they were sent, at an HTTP server`, async () => {
    const [up, down] = [new Content(), new Content()]
    const service = createServer(async (asked, answer) => {
      answer.writeHead(200, { 'Content-Length': BYTES, 'X-Got': (await digestOf(asked)).sha256 })
      Readable.from(down.chunks()).pipe(answer)
    })
    exposure = await exposeAt(relay, { http: await listening(service), carrier })
    const body = Readable.from(up.chunks())
    const response = await visit(relay, exposure.sites[0]!.url, '/', { method: 'POST', body })
    expect(response.headers['x-got']).toBe(up.sha256)
    expect(await digestOf(response)).toEqual({ bytes: BYTES, sha256: down.sha256 })
    service.close()
  })
})

/** Bytes that occur nowhere twice, made as they are sent: a gigabyte need not be in memory. */
class Content {
  readonly #stream = createCipheriv('aes-128-ctr', randomBytes(16), randomBytes(16))
  readonly #hash = createHash('sha256')

  /** Asked for once, when all was sent. */
  get sha256(): string {
    return this.#hash.digest('hex')
  }

  *chunks(): Generator<Buffer> {
    const zeros = Buffer.alloc(60_000)
    for (let left = BYTES; left > 0; left -= zeros.length) {
      const chunk = this.#stream.update(zeros.subarray(0, left))
      this.#hash.update(chunk)
      yield chunk
    }
  }
}

/** Reads until the other side ends its half; iterating would then destroy a stream that is still written to. */
function digestOf(stream: Readable): Promise<{ bytes: number; sha256: string }> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256')
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      hash.update(chunk)
    })
    stream.on('end', () => resolve({ bytes, sha256: hash.digest('hex') }))
    stream.on('error', reject)
  })
}
