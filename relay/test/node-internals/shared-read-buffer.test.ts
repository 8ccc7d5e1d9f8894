// The buffer that all bridged sockets are read into: this Node has it, and it gives every byte.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { LIMITED_READ_MAX_BYTES, SharedReadBuffer } from '../../src/core/node-internals/shared-read-buffer.ts'
import { tcp, tls } from '../support/bridges.ts'

describe('the shared read buffer', () => {
  afterEach(() => void vi.restoreAllMocks())

  test('is found in this Node', async () => {
    expect(await SharedReadBuffer.find()).toBeInstanceOf(SharedReadBuffer)
  })

  test.each<[string, symbol[]]>([
    ['keeps its buffer elsewhere', []],
    ['means something else by the names', ['kBuffer', 'kBufferGen', 'kBufferCb'].map((name) => Symbol(name))],
  ])('is not found in a Node that %s', async (_how, symbols) => {
    vi.spyOn(Object, 'getOwnPropertySymbols').mockReturnValue(symbols)
    expect(await SharedReadBuffer.find()).toBeUndefined()
  })

  test.each([
    ['TCP', tcp],
    ['TLS', tls],
  ])('gives every byte of an accepted %s socket, and its end', async (_kind, open) => {
    const { readBuffer, near, far, sent } = await opened(open)
    const received: Buffer[] = []
    readBuffer.receive(
      near,
      (bytes) => received.push(Buffer.from(bytes)) > 0,
      () => false,
    )
    const ended = once(near, 'end')
    near.resume()
    await ended
    expect(Buffer.concat(received).equals(sent)).toBe(true)
    far.destroy()
  })

  test('reads short pieces while the rate is limited', async () => {
    const { readBuffer, near, far, sent } = await opened(tcp)
    let [longest, all] = [0, 0]
    readBuffer.receive(
      near,
      (bytes) => {
        longest = Math.max(longest, bytes.length)
        all += bytes.length
        return true
      },
      () => true,
    )
    const ended = once(near, 'end')
    near.resume()
    await ended
    expect([longest, all]).toEqual([LIMITED_READ_MAX_BYTES, sent.length])
    far.destroy()
  })

  test('stops when it is told to, until the socket is resumed', async () => {
    const { readBuffer, near, far, sent } = await opened(tcp)
    let [reads, all] = [0, 0]
    readBuffer.receive(
      near,
      (bytes) => {
        reads += 1
        all += bytes.length
        return false
      },
      () => true,
    )
    near.resume()
    await expect.poll(() => reads).toBe(1)
    await setTimeout(50)
    expect(reads).toBe(1)
    const ended = once(near, 'end')
    const resuming = setInterval(() => near.resume(), 1)
    await ended
    clearInterval(resuming)
    expect(all).toBe(sent.length)
    far.destroy()
  })
})

async function opened(open: typeof tcp) {
  const readBuffer = (await SharedReadBuffer.find())!
  const { near, far } = await open()
  expect(readBuffer.suits(near)).toBe(true)
  near.pause()
  const sent = randomBytes(LIMITED_READ_MAX_BYTES * 20)
  far.end(sent)
  return { readBuffer, near, far, sent }
}
