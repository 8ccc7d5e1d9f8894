// The SDK in everything that has the web's APIs: a page, a dedicated, a shared and a service worker.
import { expect, test } from './fixtures.ts'
import { curl } from './harness/curl.ts'

test('a page', async ({ relay, tenant }) => {
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
] as const) {
  test(`a ${kind} worker`, async ({ relay, tenant, visitor, pageServer }) => {
    await tenant.goto(`${pageServer.url}contexts.html`)
    const ask = ([kind, relay]: readonly ['dedicated' | 'shared' | 'service', string]) =>
      publishIn(kind, relay, `in-${kind}`)
    const site = await tenant.evaluate(ask, [kind, relay.url] as const)
    expect(site).toEqual({ url: relay.url.replace('relay.', `in-${kind}.relay.`), state: 'online' })
    expect(String(await curl(relay.caFile, site.url))).toBe(`hello from a ${scope}`)
    await visitor.goto(site.url)
    await expect(visitor.locator('body')).toHaveText(`hello from a ${scope}`)
  })
}
