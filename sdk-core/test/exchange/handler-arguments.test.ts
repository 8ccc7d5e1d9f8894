// What the handler is called with, as other runtimes do it: any work for waitUntil, and the context that Hono looks for.

import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { FetchHandler, FetchInfo } from '../../src/exchange/fetch-handler.ts'
import { allow } from '../../src/handlers/allow-list.ts'
import { basicAuth, bearer } from '../../src/handlers/authentication.ts'
import { bundled } from '../../src/handlers/bundled-files.ts'
import { paid } from '../../src/handlers/paid/paid.ts'
import { inspect } from '../../src/inspector/inspector.ts'
import { Visitor } from '../http1/visitor.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n'
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('waitUntil takes a thenable, a value and undefined, and reports what rejects', async () => {
  const works: unknown[] = [
    Promise.reject(new Error('promise')),
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('thenable')) },
    undefined,
    null,
    'text',
  ]
  const visitor = new Visitor((_, info) => {
    for (const work of works) info.waitUntil(work)
    return new Response('ok')
  })
  await visitor.send(`${GET}\r\n`)
  await visitor.receive('ok')
  await settle()
  expect(visitor.errors).toEqual([new Error('promise'), new Error('thenable')])
})

const app = new Hono<{ Bindings: FetchInfo }>()
app.all('/', (c) => {
  c.executionCtx.waitUntil(Promise.reject(new Error('late')))
  c.executionCtx.passThroughOnException()
  return c.text(`${c.env.canonicalUrl} ok`)
})
const terms = { payTo: `0x${'1'.repeat(64)}`, facilitator: 'https://facilitator.example', routes: [] }

test.each<[string, FetchHandler]>([
  ['alone', app.fetch],
  ['allow', allow(app.fetch, [{ path: '/*' }])],
  ['basicAuth', basicAuth(app.fetch, { ann: 'secret' })],
  ['bearer', bearer(app.fetch, 'token')],
  ['bundled', bundled({ files: {} }, app.fetch)],
  ['inspect', inspect(app.fetch).fetch],
  ['paid', paid(app.fetch, { ...terms, routes: [{ path: '/paid', amount: '0.01' }] })],
])('Hono finds its executionCtx and its bindings: %s', async (kind, handler) => {
  const credentials = kind === 'bearer' ? 'Bearer token' : `Basic ${btoa('ann:secret')}`
  const visitor = await new Visitor(handler).send(`${GET}Authorization: ${credentials}\r\n\r\n`)
  expect(await visitor.receive('ok')).toContain('https://site.example/ ok')
  await settle()
  expect(visitor.errors).toEqual([new Error('late')])
})
