// The asynchronous signer: in time, late, broken, given up, and bounded.

import { describe, expect, test, vi } from 'vitest'
import { boundedSigner, type ServerConfig, type SignRequest } from '../../src/index.ts'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { hex } from '../support/hex.ts'
import { PROVIDERS } from '../support/providers.ts'
import { RawClient, until } from '../support/raw-client.ts'

const asynchronous = PROVIDERS[0]![1]

describe('the signer', () => {
  const signing = (sign: ServerConfig['sign'], limits = {}) => {
    const client = new RawClient({ ...asynchronous, sign, limits })
    client.sendHello()
    return client
  }

  test('ServerHello to Certificate are sent before it answers', async () => {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    let request: SignRequest | undefined
    const client = signing((asked) => {
      request = asked
      return promise
    })
    await until(() => client.messages.length === 3)
    expect(client.messages).toEqual([2, 8, 11])
    resolve(await asynchronous.sign(request!, new AbortController().signal))
    await client.flight()
    expect(client.messages).toEqual([2, 8, 11, 15, 20])
    client.server.abort()
  })

  test.each<[string, ServerConfig['sign']]>([
    ['rejects', () => Promise.reject(new Error('from the signer'))],
    [
      'throws',
      () => {
        throw new Error('from the signer')
      },
    ],
    ['gives nothing', () => new Uint8Array()],
  ])('%s', async (_, sign) => {
    const client = signing(sign)
    await client.over()
    expect(client.alerts).toEqual([ALERT.internal_error])
    expect(client.error).toMatchObject({ code: 'signer_failed' })
  })

  test('takes too long', async () => {
    let signal: AbortSignal | undefined
    const client = signing(
      (_, given) => {
        signal = given
        return new Promise(() => {})
      },
      { signTimeoutMs: 20 },
    )
    await client.over()
    expect(client.error).toMatchObject({ code: 'signer_timeout', alert: ALERT.internal_error })
    expect(signal!.aborted).toBe(true)
  })

  test('is told that the handshake was aborted', async () => {
    let signal: AbortSignal | undefined
    const client = signing((_, given) => {
      signal = given
      return new Promise(() => {})
    })
    await until(() => signal !== undefined)
    client.server.abort()
    expect(signal!.aborted).toBe(true)
    await client.over()
    expect(client.error).toMatchObject({ code: 'aborted' })
  })

  test('a client that floods meanwhile is held back, then cut off', async () => {
    let asked = false
    const client = signing(() => {
      asked = true
      return new Promise(() => {})
    })
    await until(() => asked)
    const junk = concat(hex('1703034000'), new Uint8Array(2 ** 14))
    const answers = Array.from({ length: 8 }, () => client.server.receive(junk))
    expect(answers[0]).toBeUndefined()
    expect(answers.at(-1)).toBeInstanceOf(Promise)
    for (let i = 0; i < 300; i++) client.raw(junk)
    await client.over()
    expect(client.error).toMatchObject({ code: 'internal_error' })
    await Promise.all(answers)
  })
})

describe('boundedSigner', () => {
  const request = {} as SignRequest

  test('runs no more than it may, in order, and refuses what does not fit the queue', async () => {
    const running: ((bytes: Uint8Array) => void)[] = []
    const sign = vi.fn(() => new Promise<Uint8Array>((resolve) => running.push(resolve)))
    const bounded = boundedSigner(sign, { inFlight: 2, waiting: 1 })
    const signal = new AbortController().signal
    const results = [bounded(request, signal), bounded(request, signal), bounded(request, signal)]
    await expect(bounded(request, signal)).rejects.toMatchObject({ code: 'signer_busy' })
    expect(sign).toHaveBeenCalledTimes(2)
    running[0]!(hex('01'))
    expect(await results[0]).toEqual(hex('01'))
    await vi.waitFor(() => expect(sign).toHaveBeenCalledTimes(3))
    running[1]!(hex('02'))
    running[2]!(hex('03'))
    expect(await Promise.all(results)).toEqual([hex('01'), hex('02'), hex('03')])
    const again = bounded(request, signal)
    running[3]!(hex('04'))
    expect(await again).toEqual(hex('04'))
  })

  test('a handshake that is over gives its place up', async () => {
    const running: ((bytes: Uint8Array) => void)[] = []
    const sign = vi.fn(() => new Promise<Uint8Array>((resolve) => running.push(resolve)))
    const bounded = boundedSigner(sign, { inFlight: 1, waiting: 1 })
    const leaving = new AbortController()
    const first = bounded(request, new AbortController().signal)
    const second = bounded(request, leaving.signal)
    leaving.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    const third = bounded(request, new AbortController().signal)
    running[0]!(hex('01'))
    await first
    await vi.waitFor(() => expect(sign).toHaveBeenCalledTimes(2))
    running[1]!(hex('02'))
    expect(await third).toEqual(hex('02'))
  })
})
