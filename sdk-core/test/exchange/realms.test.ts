// A handler answers with objects of another realm, and of a library that has classes of its own.

import { runInNewContext } from 'node:vm'
import { Response as LibraryResponse } from 'undici'
import { describe, expect, test } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { withCookies } from '../../src/handlers/cookies.ts'
import { walletOnly } from '../../src/handlers/wallet/wallet-only.ts'
import { identityFromKey } from '../../src/identity/key.ts'
import { Visitor } from '../http1/visitor.ts'
import { Client, settle } from '../websocket/client.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'
const foreign = <T>(expression: string): T => runInNewContext(expression)
/** A Response of npm's undici, which is no instance of Node's own. */
const libraryResponse = (body: string): Response =>
  new LibraryResponse(body, { headers: { 'X-Made-By': 'undici' } }) as unknown as Response

async function answerOf(fetch: FetchHandler): Promise<string> {
  return (await new Visitor(fetch).send(GET)).receive('ok')
}

describe('a Response of a library', () => {
  test('is sent as it is', async () => {
    expect(libraryResponse('')).not.toBeInstanceOf(Response)
    const answer = await answerOf(() => libraryResponse('ok'))
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*x-made-by: undici\r\n.*content-length: 2\r\n\r\nok$/s)
  })

  test('takes cookies, and so do its clones', async () => {
    const answer = await answerOf(() => withCookies(libraryResponse('ok'), ['a=b']).clone())
    expect(answer).toMatch(/set-cookie: a=b\r\n/)
  })
})

test('what is no Response is refused', async () => {
  for (const wrong of [undefined, null, 'ok', {}, new Request('https://site.example/')]) {
    const visitor = await new Visitor(() => wrong as Response).send(GET)
    expect(await visitor.receive('Internal Server Error', 2)).toMatch(/^HTTP\/1\.1 500 /)
    expect(visitor.errors).toEqual([new TypeError('fetch must return a Response')])
  }
})

test('a body of another realm’s bytes', async () => {
  const chunk = foreign<Uint8Array<ArrayBuffer>>('Uint8Array.of(111, 107)')
  expect(chunk).not.toBeInstanceOf(Uint8Array)
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(chunk)
      controller.close()
    },
  })
  expect(await answerOf(() => new Response(body))).toMatch(/\r\n\r\nok$/)
})

test('a message of another realm’s ArrayBuffer is binary', async () => {
  const client = await Client.open()
  client.socket.send(foreign<ArrayBuffer>('Uint8Array.of(1, 2, 3).buffer'))
  await settle()
  expect(await client.receive()).toEqual({ opcode: 2, payload: Buffer.from([1, 2, 3]) })
})

test('keys of another realm', () => {
  const key = 'Uint8Array.from({ length: 32 }, () => 7)'
  expect(identityFromKey(foreign(key)).address).toBe(identityFromKey(new Uint8Array(32).fill(7)).address)
  const { address } = identityFromKey(foreign(key))
  expect(walletOnly(() => new Response(), { wallets: [address], key: foreign(key) })).toBeTypeOf('function')
})
