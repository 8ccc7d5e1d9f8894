// What the control client makes of a relay's answers, the same in Node and in a browser: `msw` answers at the edge of `fetch`.

import { RelayClient, SvcError } from '@svc/sdk-core'
import { delay, HttpResponse, http, type RequestHandler } from 'msw'
import { describe, expect, it } from 'vitest'
import { publish } from '../../src/index.ts'

/** What both of msw's ends have, the server in Node and the service worker in a browser. */
export interface Interceptor {
  use(...handlers: RequestHandler[]): void
}

const RELAY = 'https://relay.example:4433'
const PATH = `${RELAY}/sdk/domain`
const DEADLINE_MS = 100

export function describeRelayAnswers(where: string, interceptor: Interceptor): void {
  const client = new RelayClient(new URL(RELAY), (url, init) => fetch(url, init))
  const answer = (respond: () => Response | Promise<Response>): void =>
    interceptor.use(http.all(PATH, () => respond()))
  const call = (options = {}): Promise<unknown> => client.call('/sdk/domain', options)
  const failure = (code: string): object => ({ ok: false, error: { code, message: 'told to' } })

  describe(`the control client in ${where}`, () => {
    it('gives the data of an enveloped success', async () => {
      answer(() => HttpResponse.json({ ok: true, data: { a: 1 } }))
      expect(await call()).toEqual({ a: 1 })
    })

    it('posts JSON, and sends neither cookies nor where it is called from', async () => {
      const seen: Request[] = []
      interceptor.use(
        http.post(PATH, async ({ request }) => {
          seen.push(request.clone())
          return HttpResponse.json({ ok: true, data: {} })
        }),
      )
      await call({ body: { access_token: 't' } })
      const [request] = seen
      expect(await request!.json()).toEqual({ access_token: 't' })
      expect(request!.headers.get('content-type')).toBe('application/json')
      expect([request!.headers.get('cookie'), request!.headers.get('referer')]).toEqual([null, null])
    })

    it('says when a throttled request may be repeated', async () => {
      const headers = { 'Retry-After': '7' }
      answer(() => HttpResponse.json(failure('rate_limited'), { status: 429, headers }))
      await expect(call()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 7000 })
      answer(() => new HttpResponse('Too Many Requests', { status: 429, headers }))
      await expect(call()).rejects.toMatchObject({ code: 'unexpected_answer', retryAfterMs: 7000 })
    })

    it.each([
      ['the relay’s own 500', 500, JSON.stringify(failure('internal')), 'internal'],
      ['the relay’s own 503', 503, JSON.stringify(failure('feature_unavailable')), 'feature_unavailable'],
      ['a 500 that is HTML', 500, '<h1>Internal Server Error</h1>', 'unexpected_answer'],
      ['a 502 of a gateway', 502, '<h1>Bad Gateway</h1>', 'relay_unreachable'],
      ['a 504 of a gateway', 504, '', 'relay_unreachable'],
      ['HTML instead of JSON', 200, '<!doctype html><title>Log in</title>', 'unexpected_answer'],
      ['JSON that is cut short', 200, '{"ok":true,"data":{"a":', 'unexpected_answer'],
      ['an empty answer', 200, '', 'unexpected_answer'],
    ])('%s', async (_, status, body, code) => {
      answer(() => new HttpResponse(body, { status }))
      const error = await call().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(SvcError)
      expect(error).toMatchObject({ code })
    })

    it('a body that breaks off', async () => {
      answer(() => {
        const body = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"ok":true,'))
          },
          async pull(controller) {
            await delay(10)
            controller.error(new TypeError('connection reset'))
          },
        })
        return new HttpResponse(body, { headers: { 'Content-Length': '100' } })
      })
      await expect(call()).rejects.toMatchObject({ code: 'relay_unreachable' })
    })

    it('a network error', async () => {
      answer(() => HttpResponse.error())
      await expect(call()).rejects.toMatchObject({ code: 'relay_unreachable' })
    })

    it.each([301, 302, 307, 308])(
      'a redirect with %i is not followed: tokens stay with this relay',
      async (status) => {
        let asked = 0
        interceptor.use(
          http.all('https://other.example/*', () => {
            asked += 1
            return HttpResponse.json({ ok: true, data: {} })
          }),
        )
        answer(() => new HttpResponse(null, { status, headers: { Location: 'https://other.example/x' } }))
        await expect(call({ body: { access_token: 't' } })).rejects.toMatchObject({
          code: 'relay_unreachable',
        })
        expect(asked).toBe(0)
      },
    )

    it('an answer that is too slow, and one that the caller no longer wants', async () => {
      answer(async () => {
        await delay(10 * DEADLINE_MS)
        return HttpResponse.json({ ok: true, data: {} })
      })
      await expect(call({ deadlineMs: DEADLINE_MS })).rejects.toMatchObject({ code: 'relay_unreachable' })
      const signal = AbortSignal.timeout(DEADLINE_MS)
      await expect(call({ signal })).rejects.toMatchObject({ code: 'aborted' })
    })
  })

  describe(`publish in ${where}`, () => {
    const options = {
      relay: RELAY,
      name: 'demo',
      identity: new Uint8Array(32).fill(1),
      fetch: () => new Response(),
    }

    it.each(['9', '11', '10.1'])(
      'refuses a relay that speaks protocol %s, and signs nothing for it',
      async (theirs) => {
        const asked: string[] = []
        interceptor.use(
          http.all(`${RELAY}/*`, ({ request }) => {
            asked.push(new URL(request.url).pathname)
            return HttpResponse.json({ ok: true, data: { protocol_version: theirs, release_version: '1' } })
          }),
        )
        await expect(publish(options)).rejects.toMatchObject({ code: 'incompatible_relay' })
        // A challenge may have been asked for at the same time.
        expect(asked).toContain('/sdk/domain')
        expect(asked).not.toContain('/sdk/register')
      },
    )

    it('refuses what is no relay at all', async () => {
      interceptor.use(http.all(`${RELAY}/*`, () => new HttpResponse('<h1>It works!</h1>')))
      await expect(publish(options)).rejects.toMatchObject({ code: 'unexpected_answer' })
    })
  })
}
