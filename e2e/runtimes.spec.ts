// What handlers expect who know Deno, Bun and workers, in a page without the globals.

import { writeFile } from 'node:fs/promises'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

test('Response.redirect leads to the site', async ({ relay, tenant }) => {
  const url = await tenant.evaluate(async (relay) => {
    const fetch = (request: Request): Response => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/plain')
        return new Response(null, { status: 302, headers: { Location: `${location.origin}/page` } })
      return Response.redirect(searchParams.get('to') ?? '/', 303)
    }
    return (await svc.publish({ relay, name: 'redirect', fetch })).url
  }, relay.url)
  const locationOf = async (path: string, ...args: string[]): Promise<string | undefined> =>
    /^location: (.*)\r$/im.exec(String(await curl(relay.caFile, '-i', ...args, `${url}${path}`)))?.[1]
  expect(await locationOf('/?to=/x%3Fa=b')).toBe('/x?a=b')
  expect(await locationOf('/?to=/x', '--head')).toBe('/x')
  expect(await locationOf('/?to=/x', '--http1.1')).toBe('/x')
  expect(await locationOf('/?to=https://other.example/x')).toBe('https://other.example/x')
  // What names the publisher's page in full is meant.
  expect(await locationOf('/plain')).toBe(`${new URL(tenant.url()).origin}/page`)
})

wholeOnly(test, 'variant')('HEAD has the length that GET would have', async ({ relay, tenant }) => {
  const url = await tenant.evaluate(async (relay) => {
    const fetch = (): Response => new Response('hello')
    return (await svc.publish({ relay, name: 'head', fetch })).url
  }, relay.url)
  for (const version of ['--http1.1', '--http2'])
    expect(String(await curl(relay.caFile, version, '--head', url))).toMatch(/^content-length: 5\r$/im)
})

test('an upgrade sets cookies', async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relay) => {
    const site = await svc.publish({
      relay,
      name: 'cookie',
      fetch: (request, info) => {
        if (request.headers.get('upgrade') === null) return new Response('a page')
        const { socket, response } = info.upgrade(request)
        response.headers.append('Set-Cookie', 'visit=1; Path=/; Secure')
        socket.onopen = () => socket.send(socket.url)
        return response
      },
    })
    return site.url
  }, relay.url)
  await visitor.goto(url)
  const heard = await visitor.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`${location.origin.replace('https:', 'wss:')}/live`)
        socket.onmessage = ({ data }) => resolve(data)
      }),
  )
  expect(heard).toBe(`${url.replace('https:', 'wss:')}/live`)
  expect(await visitor.context().cookies(url)).toMatchObject([{ name: 'visit', value: '1' }])
})

wholeOnly(test, 'variant')(
  'a handler that answers 202 at once gets the whole body',
  async ({ relay, tenant }, info) => {
    const url = await tenant.evaluate(async (relay) => {
      const lengths: number[] = []
      const site = await svc.publish({
        relay,
        name: 'early',
        fetch: (request, info) => {
          if (request.method === 'GET') return Response.json(lengths)
          info.waitUntil(request.text().then(({ length }) => lengths.push(length)))
          return new Response('accepted', { status: 202 })
        },
      })
      return site.url
    }, relay.url)
    const body = info.outputPath('body')
    await writeFile(body, 'x'.repeat(3_000_000))
    expect(String(await curl(relay.caFile, '--http1.1', '--data-binary', `@${body}`, url))).toBe('accepted')
    await expect.poll(async () => String(await curl(relay.caFile, url))).toBe('[3000000]')
  },
)

wholeOnly(test, 'variant')('hono/cache keeps a response', async ({ relay, tenant }) => {
  const url = await tenant.evaluate(async (relay) => {
    let calls = 0
    const app = new svc.Hono()
    app.get('*', svc.cache({ cacheName: 'site', cacheControl: 'max-age=60' }))
    app.get('/', (c) => c.text(`call ${++calls}`))
    return (await svc.publish({ relay, name: 'hono-cache', fetch: app.fetch })).url
  }, relay.url)
  const call = async (): Promise<string> => String(await curl(relay.caFile, url))
  // It is kept once the work for waitUntil is done.
  const isKept = async (): Promise<boolean> => {
    const first = await call()
    return first === (await call())
  }
  await expect.poll(isKept).toBe(true)
})

wholeOnly(test, 'variant')(
  'a Blob has a length, where the globals are installed',
  async ({ relay, tenant }) => {
    const url = await tenant.evaluate(async (relay) => {
      const blob = new Blob(['x'.repeat(3_000_000)])
      const fetch = (): Response => new Response(blob).clone()
      return (await svc.publish({ relay, name: 'blob', globals: true, fetch })).url
    }, relay.url)
    for (const args of [['--head'], ['-D-', '-o', '/dev/null']])
      expect(String(await curl(relay.caFile, ...args, url))).toMatch(/^content-length: 3000000\r$/im)
  },
)

test('a kept key that is damaged is not used, and the error says so', async ({ relay, tenant }) => {
  const codes = await tenant.evaluate(async (relay) => {
    const attempt = (identity: string): Promise<string> =>
      svc.publish({ relay, name: 'damaged', identity, fetch: () => new Response() }).then(
        ({ state }) => state,
        ({ code }) => code,
      )
    // It makes the database.
    const codes = [await attempt('whole')]
    const opening = indexedDB.open('@svc/sdk-browser')
    await new Promise((resolve) => opening.addEventListener('success', resolve))
    const kinds = { text: 'damaged', short: new Uint8Array(31), zero: new Uint8Array(32), other: {} }
    for (const [identity, value] of Object.entries(kinds)) {
      const transaction = opening.result.transaction('identity', 'readwrite')
      transaction.objectStore('identity').put(value, identity)
      await new Promise((resolve) => transaction.addEventListener('complete', resolve))
      codes.push(await attempt(identity))
    }
    return codes
  }, relay.url)
  expect(codes).toEqual(['online', ...Array(4).fill('identity_unavailable')])
})

wholeOnly(test, 'variant')(
  'a pagehide that a script dispatches does not suspend the site',
  async ({ relay, tenant }) => {
    const url = await tenant.evaluate(async (relay) => {
      const site = await svc.publish({ relay, name: 'synthetic', fetch: () => new Response(site.state) })
      dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
      return site.url
    }, relay.url)
    expect(String(await curl(relay.caFile, url))).toBe('online')
  },
)
