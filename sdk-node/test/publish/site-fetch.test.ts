// `site.fetch`, against a real relay with a development authority and a name that not every resolver knows.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { type NodeSite, publish } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

let site: NodeSite
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identity: new Uint8Array(32).fill(7),
    fetch: answer,
  })
})
afterAll(() => site?.close())

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === '/moved')
    return new Response(null, { status: 302, headers: { Location: '/end?from=moved' } })
  if (pathname === '/elsewhere')
    return new Response(null, { status: 307, headers: { Location: `${site.canonicalUrl}/secrets` } })
  if (pathname === '/secrets') {
    const { headers } = request
    return Response.json([headers.get('authorization'), headers.get('cookie'), headers.get('x-asked')])
  }
  if (pathname === '/kept') return new Response(null, { status: 307, headers: { Location: '/end' } })
  if (pathname === '/round') return new Response(null, { status: 302, headers: { Location: '/round' } })
  if (pathname === '/none') return new Response(null, { status: 204 })
  const headers = new Headers({ 'x-asked': request.headers.get('x-asked') ?? '' })
  headers.append('set-cookie', 'a=1')
  headers.append('set-cookie', 'b=2')
  return new Response(`${request.method} ${pathname}${search} ${await request.text()}`, { headers })
}

describe('site.fetch', () => {
  it('takes a path or a URL, and gives a Response', async () => {
    const response = await site.fetch('/hello?x=1', { headers: { 'x-asked': 'yes' } })
    expect(response).toBeInstanceOf(Response)
    expect([response.status, response.url, response.redirected]).toEqual([
      200,
      `${site.url}/hello?x=1`,
      false,
    ])
    expect(response.headers.get('x-asked')).toBe('yes')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(await response.text()).toBe('GET /hello?x=1 ')
    expect(await (await site.fetch(new URL('/there', site.canonicalUrl))).text()).toBe('GET /there ')
  })

  it('sends a body, and follows redirects as fetch does', async () => {
    const init = { method: 'POST', body: 'content' }
    expect(await (await site.fetch('/end', init)).text()).toBe('POST /end content')
    const moved = await site.fetch('/moved', init)
    expect([await moved.text(), moved.redirected]).toEqual(['GET /end?from=moved ', true])
    expect(await (await site.fetch('/kept', init)).text()).toBe('POST /end content')
    expect((await site.fetch('/moved', { redirect: 'manual' })).status).toBe(302)
    await expect(site.fetch('/moved', { redirect: 'error' })).rejects.toThrow(TypeError)
    await expect(site.fetch('/round')).rejects.toThrow(TypeError)
  })

  it('takes no credentials along to another origin', async () => {
    const headers = { Authorization: 'Bearer secret', Cookie: 'session=secret', 'x-asked': 'yes' }
    const near = await site.fetch('/secrets', { headers })
    expect(await near.json()).toEqual(['Bearer secret', 'session=secret', 'yes'])
    const far = await site.fetch('/elsewhere', { headers })
    expect([far.url, await far.json()]).toEqual([`${site.canonicalUrl}/secrets`, [null, null, 'yes']])
  })

  it('gives a response without content, and none to a request that was aborted', async () => {
    const none = await site.fetch('/none')
    expect([none.status, none.body]).toEqual([204, null])
    expect(await (await site.fetch('/end', { method: 'HEAD' })).text()).toBe('')
    await expect(site.fetch('/end', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('trusts no other authority, and says why a connection failed', async () => {
    const other = await fetch(site.url).catch((error) => error)
    expect(other).toBeInstanceOf(TypeError)
    const { port } = new URL(site.url)
    const failed = site.fetch(`https://nobody.relay.localhost:${port}/`)
    await expect(failed).rejects.toMatchObject({ name: 'TypeError', cause: expect.any(Error) })
  })
})
