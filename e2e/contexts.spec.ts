// The SDK in everything that has the web's APIs: a page, a dedicated, a shared and a service worker.

import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

wholeOnly(test, 'variant')('a page', async ({ relay, tenant }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const fetch = (): Response => new Response(`hello from a ${globalThis.constructor.name}`)
    return (await svc.publish({ relay: relayUrl, name: 'in-page', fetch })).url
  }, relay.url)
  expect(String(await curl(relay.caFile, url))).toBe('hello from a Window')
})

for (const [kind, scope] of [
  ['dedicated', 'DedicatedWorkerGlobalScope'],
  ['shared', 'SharedWorkerGlobalScope'],
  ['service', 'ServiceWorkerGlobalScope'],
  ['single-file', 'ServiceWorkerGlobalScope'],
] as const) {
  const oneOf = kind === 'dedicated' ? test : wholeOnly(test, 'variant')
  oneOf(`a ${kind} worker`, async ({ relay, tenant, visitor, pageServer }) => {
    await tenant.goto(`${pageServer.url}contexts.html`)
    const ask = ([kind, relay]: readonly [Parameters<typeof publishIn>[0], string]) =>
      publishIn(kind, relay, `in-${kind}`)
    const site = await tenant.evaluate(ask, [kind, relay.url] as const)
    expect(site).toEqual({ url: relay.url.replace('relay.', `in-${kind}.relay.`), state: 'online' })
    expect(String(await curl(relay.caFile, site.url))).toBe(`hello from a ${scope}`)
    await visitor.goto(site.url)
    await expect(visitor.locator('body')).toHaveText(`hello from a ${scope}`)
    // in a worker the fields that a page's Request and Response drop are kept
    await visitor.goto(`${site.url}/login`)
    await expect(visitor.locator('body')).toHaveText('hello, ada')
  })
}

test('a service worker in a single file has HTTP/2 and WebSockets', async ({
  relay,
  tenant,
  visitor,
  pageServer,
}) => {
  await tenant.goto(`${pageServer.url}contexts.html`)
  const { url } = await tenant.evaluate((relay) => publishIn('single-file', relay, 'all-in-one'), relay.url)
  expect(String(await curl(relay.caFile, '--http2', '--write-out', ' %{http_version}', url))).toMatch(/ 2$/)
  await visitor.goto(url)
  const echo = await visitor.evaluate(async () => {
    const socket = new WebSocket(`${location.origin.replace('https:', 'wss:')}/socket`)
    const message = new Promise<string>((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(data)
      socket.onerror = () => reject(new Error('there is no socket'))
    })
    socket.onopen = () => socket.send('over and over '.repeat(200))
    return { length: (await message).length, extensions: socket.extensions }
  })
  expect(echo).toEqual({ length: 2800, extensions: expect.stringContaining('permessage-deflate') })
})

wholeOnly(test, 'variant')(
  'a page that asks for it keeps the fields that its Request and Response drop',
  async ({ relay, tenant, visitor }) => {
    const [plain, kept] = await tenant.evaluate(async (relay) => {
      const fetch = (request: Request): Response => {
        const user = /user=(\w+)/.exec(new Request(request).headers.get('cookie') ?? '')?.[1]
        if (!request.url.endsWith('/login')) return new Response(user ? `hello, ${user}` : 'hello, stranger')
        return new Response('', { status: 303, headers: { location: '/', 'set-cookie': 'user=ada; Secure' } })
      }
      const plain = await svc.publish({ relay, name: 'plain', fetch })
      const before = new Response('', { headers: { 'set-cookie': 'a=b' } }).headers.getSetCookie().length
      const kept = await svc.publish({ relay, name: 'kept', fetch, globals: true })
      return [`${before} ${plain.url}`, kept.url] as const
    }, relay.url)
    expect(plain).toMatch(/^0 https:/)
    await visitor.goto(`${kept}/login`)
    await expect(visitor.locator('body')).toHaveText('hello, ada')
  },
)
