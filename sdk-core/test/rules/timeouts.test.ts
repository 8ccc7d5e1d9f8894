// The time that a handler has: from the request, or from the last part of its content that the handler read.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DIRECT, type DirectlyHandled, type DirectResponse } from '../../src/exchange/direct.ts'
import { losses } from '../../src/exchange/disconnect-signal.ts'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { lossSignal } from '../../src/exchange/loss-signal.ts'
import { withRules } from '../../src/rules/with-rules.ts'
import { info } from '../handlers/ask.ts'
import { SITE } from './ways.ts'

const RULES = { timeouts: { response: 10 }, responseHeaders: { set: { 'X-A': 'b' } } }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Content whose parts come when the test sends them. */
function slowContent(): { stream: ReadableStream<Uint8Array>; send(text?: string): void } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
  })
  return {
    stream,
    send: (text) =>
      text === undefined ? controller!.close() : controller!.enqueue(new TextEncoder().encode(text)),
  }
}

describe('a handler that gets a Request', () => {
  const asked = (handler: FetchHandler, init: RequestInit = {}, request = new Request(SITE, init)) => {
    const answered = (async () => withRules(handler, RULES)(request, info))()
    let status: number | undefined
    answered.then(
      (response) => {
        status = response.status
      },
      () => {},
    )
    return { answered, status: () => status }
  }

  test('has answered in time, and may take as long as it likes with the content', async () => {
    const content = slowContent()
    const { answered } = asked(async () => {
      await new Promise((resolve) => setTimeout(resolve, 9_999))
      return new Response(content.stream)
    })
    await vi.advanceTimersByTimeAsync(9_999)
    const response = await answered
    await vi.advanceTimersByTimeAsync(60_000)
    content.send('late')
    content.send()
    expect([response.status, await response.text()]).toEqual([200, 'late'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('has not: the visitor gets 504, the signal is aborted, and a late response is dropped', async () => {
    let aborted: unknown
    const cancelled = vi.fn()
    const { answered, status } = asked(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = signal.reason
      })
      await new Promise((resolve) => setTimeout(resolve, 20_000))
      return new Response(new ReadableStream({ cancel: cancelled }))
    })
    await vi.advanceTimersByTimeAsync(9_999)
    expect(status()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    const response = await answered
    expect([response.status, response.headers.get('x-a')]).toEqual([504, 'b'])
    expect(aborted).toMatchObject({ name: 'TimeoutError' })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test('and fails late: nobody hears of it', async () => {
    const { answered } = asked(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    )
    await vi.advanceTimersByTimeAsync(10_000)
    expect((await answered).status).toBe(504)
  })

  test('has more time while a visitor sends content', async () => {
    const content = slowContent()
    const { answered, status } = asked(async (request) => new Response(await request.text()), {
      method: 'POST',
      body: content.stream,
      duplex: 'half',
    } as RequestInit)
    for (const part of ['a', 'b', 'c']) {
      await vi.advanceTimersByTimeAsync(9_000)
      content.send(part)
    }
    await vi.advanceTimersByTimeAsync(9_000)
    content.send()
    await vi.advanceTimersByTimeAsync(0)
    expect(status()).toBe(200)
    expect(await (await answered).text()).toBe('abc')
  })

  test('that forwards requests hears of a visitor who left, and of the time', async () => {
    for (const [lose, reason] of [
      [(lost: PromiseWithResolvers<never>) => lost.reject(new Error('left')), { message: 'left' }],
      [() => vi.advanceTimersByTimeAsync(10_000), { name: 'TimeoutError' }],
    ] as const) {
      const lost = Promise.withResolvers<never>()
      lost.promise.catch(() => {})
      const request = new Request(SITE)
      losses.set(request, lost.promise)
      let signal: AbortSignal | undefined
      asked(
        (given) => {
          signal = lossSignal(given)
          return new Promise(() => {})
        },
        {},
        request,
      )
      await lose(lost)
      await vi.advanceTimersByTimeAsync(0)
      expect(signal!.reason).toMatchObject(reason)
    }
  })
})

describe('the direct path', () => {
  function asked(respond: () => Promise<DirectResponse>): {
    answered: Promise<DirectResponse>
    cancel: ReturnType<typeof vi.fn>
  } {
    const cancel = vi.fn()
    const handler: DirectlyHandled = () => new Response()
    handler[DIRECT] = () => ({ respond, cancel })
    const exchange = withRules(handler, RULES)[DIRECT]!({
      method: 'GET',
      url: new URL(SITE),
      fields: [],
      body: undefined,
    })!
    return { answered: exchange.respond(), cancel }
  }

  test('gives 504 and ends its exchange', async () => {
    const { answered, cancel } = asked(() => new Promise(() => {}))
    await vi.advanceTimersByTimeAsync(10_000)
    const { status, fields } = await answered
    expect([status, fields.find(([name]) => name === 'x-a')?.[1]]).toEqual([504, 'b'])
    expect(cancel).toHaveBeenCalledOnce()
  })

  test('passes on the error of an exchange that fails in time', async () => {
    const { answered, cancel } = asked(() => Promise.reject(new Error('broken')))
    await expect(answered).rejects.toThrow('broken')
    expect([cancel.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0])
  })
})
