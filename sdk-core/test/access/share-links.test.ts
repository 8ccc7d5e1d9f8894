// Share links: who has one comes in, once or until its end, and not after it was withdrawn.

import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { openGate } from '../../src/access/index.ts'
import { SHARES_MAX } from '../../src/access/limits.ts'
import type { AccessOptions } from '../../src/access/options.ts'
import {
  ShareLinks,
  type ShareOptions,
  type ShareStore,
  type Sharing,
  type StoredShare,
} from '../../src/access/share-links.ts'
import type { Answer, Fields } from '../support/guarded-site.ts'
import { AccessSite, cookieOf, NAVIGATION } from './access-site.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
let site: AccessSite
let shared: Sharing
beforeEach(() => start({ password: 'x' }))
afterEach(() => {
  vi.useRealTimers()
  site.close()
})

async function start(access: AccessOptions): Promise<void> {
  site = await AccessSite.start(
    (request, info) =>
      request.headers.has('upgrade') ? info.upgrade(request).response : new Response('inside'),
    access,
    undefined,
    (gate) => {
      shared = gate.attach({ url: 'https://site.example/' })
    },
  )
}

async function secretOf(options?: ShareOptions): Promise<string> {
  const { url } = await shared.share(options)
  return /^https:\/\/site\.example\/\.svc\/access#svc-share=([\w-]{43})$/.exec(url)![1]!
}

function exchange(secret: unknown, headers: Fields = {}): Promise<Answer> {
  return site.ask('/.svc/access/share', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: site.origin, ...headers },
    body: JSON.stringify({ secret }),
  })
}

async function statusOf(cookie: string): Promise<number> {
  return (await site.ask('/', { headers: { Cookie: cookie } })).status
}

test('a link signs in, again and again, and is listed without its secret', async () => {
  const secret = await secretOf({ note: 'for Bob' })
  for (const uses of [1, 2]) {
    const answer = await exchange(secret)
    expect([answer.status, await statusOf(cookieOf(answer))]).toEqual([200, 200])
    expect(shared.shares).toMatchObject([{ note: 'for Bob', once: false, uses }])
  }
  expect(JSON.stringify(shared.shares)).not.toContain(secret)
})

test('a link for one sign-in is used once, also by many at the same time', async () => {
  const secret = await secretOf({ once: true })
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(secret)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...new Array(9).fill(403)])
  const replayed = await exchange(secret)
  expect([replayed.status, replayed.headers.get('set-cookie')]).toEqual([403, null])
  expect(await statusOf(cookieOf(answers.find(({ status }) => status === 200)!))).toBe(200)
})

test('a link and its sessions end at the time of the link', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  const secret = await secretOf({ until: '2h' })
  const answer = await exchange(secret)
  expect(answer.headers.get('set-cookie')).toContain('Max-Age=7200')
  vi.setSystemTime(NOW + 7_199_999)
  expect(await statusOf(cookieOf(answer))).toBe(200)
  vi.setSystemTime(NOW + 7_200_000)
  expect([await statusOf(cookieOf(answer)), (await exchange(secret)).status]).toEqual([401, 403])
  expect(shared.shares).toEqual([])
})

test('the withdrawal of a link ends its sessions and their WebSockets, and no others', async () => {
  const [secret, other] = [await secretOf(), await secretOf()]
  const [cookie, stays] = [cookieOf(await exchange(secret)), cookieOf(await exchange(other))]
  const headers = { Cookie: cookie, Origin: site.origin }
  const socket = new WebSocket(`ws://127.0.0.1:${site.port}/`, { headers })
  await once(socket, 'open')
  const closed = once(socket, 'close')
  const { id } = shared.shares[0]!
  const ids = [id, id, 'none']
  expect(await Promise.all(ids.map((each) => shared.unshare(each)))).toEqual([true, false, false])
  expect((await closed)[0]).toBe(1008)
  expect([await statusOf(cookie), await statusOf(stays)]).toEqual([401, 200])
  expect((await exchange(secret)).status).toBe(403)
})

test('what is no secret, or comes from elsewhere, signs nobody in', async () => {
  const secret = await secretOf({ once: true })
  for (const wrong of [secret.slice(1), `${secret}x`, '', null, 1, {}, shared.shares[0]!.id])
    expect((await exchange(wrong)).status).toBe(403)
  expect((await exchange(secret, { Origin: 'https://evil.example' })).status).toBe(403)
  expect((await exchange(secret, { 'Content-Type': 'text/plain' })).status).toBe(415)
  expect((await site.ask(`/.svc/access/share?secret=${secret}`, { headers: NAVIGATION })).status).toBe(405)
  expect((await exchange(secret)).status).toBe(200)
})

test('a session of before does not become the one of the link', async () => {
  const planted = cookieOf(await exchange(await secretOf()))
  const answer = await exchange(await secretOf(), { Cookie: planted })
  expect([await statusOf(planted), await statusOf(cookieOf(answer))]).toEqual([401, 200])
})

test('a site for one is for the first who comes by any link', async () => {
  site.close()
  await start({ password: 'x', once: true })
  expect((await exchange(await secretOf())).status).toBe(200)
  expect((await exchange(await secretOf())).status).toBe(403)
})

const PATHS = ['', 'page', '//evil.example/', 'https://evil.example/', '/\\evil.example', '/.svc/access']

test.each<[ShareOptions, string]>([
  [{ until: '2020-01-01' }, 'until must be a time to come'],
  [{ until: 'soon' }, 'until must be a time to come'],
  [{ note: 'x'.repeat(201) }, 'note has at most 200 characters'],
  ...PATHS.map((path): [ShareOptions, string] => [{ path }, 'path is a path of the site']),
])('%o is refused', async (options, message) => {
  await expect(shared.share(options)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})

test('a site that is open needs no link, and one without a URL has none', async () => {
  const open = (await openGate({ rate: '1/s' }, undefined)).attach({ url: 'https://a.example/' })
  await expect(open.share()).rejects.toThrow('a share link needs password, users, bearer, oidc or knock')
  const early = (await openGate({ password: 'x' }, undefined)).attach({ url: '' })
  await expect(early.share()).rejects.toThrow('no URL yet')
})

test('the number of links is bounded', async () => {
  const links = await ShareLinks.open()
  for (let at = 0; at < SHARES_MAX; at += 1) await links.add({})
  await expect(links.add({})).rejects.toThrow('at most 1000 share links')
})

test('a link leads to the page with its script, and from there to its path', async () => {
  const { url } = await shared.share({ path: '/page?a=1&b="' })
  const link = new URL(url)
  expect(link.pathname + link.search).toBe('/.svc/access?next=%2Fpage%3Fa%3D1%26b%3D%2522')
  const page = await site.ask(link.pathname + link.search, { headers: NAVIGATION })
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('data-next="/page?a=1&#38;b=%22"')])
  expect(page.text).toContain("'/share'")
  const Cookie = cookieOf(await exchange(link.hash.slice('#svc-share='.length)))
  const inside = await site.ask(link.pathname + link.search, { headers: { ...NAVIGATION, Cookie } })
  expect(inside.text).toContain(`href="${site.origin}/page?a=1&#38;b=%22"`)
})

test.each(['//evil.example', 'https://evil.example/', '/\\evil.example', '/.svc/access/sign-out'])(
  'a link to %s leads to the site',
  async (next) => {
    const page = await site.ask(`/.svc/access?next=${encodeURIComponent(next)}`, { headers: NAVIGATION })
    expect(page.text).toContain('data-next="/"')
  },
)

test('a site where visitors knock is shared by links, too', async () => {
  site.close()
  await start({ knock: true })
  const secret = await secretOf()
  const page = await site.ask('/.svc/access', { headers: NAVIGATION })
  expect(page.text).toContain("'/share'")
  expect(await statusOf(cookieOf(await exchange(secret)))).toBe(200)
})

test('the last use is listed with its time and address', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  const secret = await secretOf()
  expect(shared.shares[0]!.lastUse).toBeUndefined()
  await exchange(secret, { 'X-Test-Address': '192.0.2.7' })
  expect(shared.shares[0]!.lastUse).toEqual({ at: new Date(NOW), address: '192.0.2.7' })
  expect(Object.keys(shared.shares[0]!)).not.toContain('hash')
})

describe('with a store', () => {
  let kept: Map<string, StoredShare>
  let problem: Error | undefined
  const fail = (): void => {
    if (problem) throw problem
  }
  const store: ShareStore = {
    load: async () => [...kept.values()],
    add: async (share) => {
      fail()
      kept.set(share.id, share)
    },
    use: async (share) => {
      fail()
      if (kept.get(share.id)?.hash === undefined) return false
      kept.set(share.id, share)
      return true
    },
    remove: async (id) => {
      fail()
      kept.delete(id)
    },
  }
  beforeEach(() => {
    kept = new Map()
    problem = undefined
  })

  test('links are those of before, with their ends and uses, and without their secrets', async () => {
    const before = await ShareLinks.open(store)
    const { id, secret } = await before.add({ until: '2h', note: 'for Bob' })
    await before.use(secret, undefined)
    expect(JSON.stringify([...kept.values()])).not.toContain(secret)
    const links = await ShareLinks.open(store)
    expect(links.list).toEqual(before.list)
    expect([await links.use(secret, undefined), links.list[0]!.uses]).toEqual([id, 2])
  })

  test('what was used up or withdrawn stays so, also for another process that had it already', async () => {
    const before = await ShareLinks.open(store)
    const [once, other] = [await before.add({ once: true }), await before.add({})]
    const beside = await ShareLinks.open(store)
    expect(await before.use(once.secret, undefined)).toBe(once.id)
    await before.remove(other.id)
    for (const links of [beside, await ShareLinks.open(store)])
      for (const { secret } of [once, other]) expect(await links.use(secret, undefined)).toBeUndefined()
  })

  test('a use or a link that cannot be kept is none, and a withdrawal holds at once', async () => {
    const links = await ShareLinks.open(store)
    const { id, secret } = await links.add({ once: true })
    problem = new Error('no space')
    await expect(links.add({})).rejects.toBe(problem)
    await expect(links.use(secret, undefined)).rejects.toBe(problem)
    expect(links.list.map((link) => link.id)).toEqual([id])
    await expect(links.remove(id)).rejects.toBe(problem)
    expect(links.list).toEqual([])
  })

  test('a link that is withdrawn while its use is being kept signs nobody in', async () => {
    const going = Promise.withResolvers<boolean>()
    const links = await ShareLinks.open({ ...store, use: () => going.promise })
    const { id, secret } = await links.add({})
    const use = links.use(secret, undefined)
    await vi.waitFor(() => expect(links.list[0]!.uses).toBe(1))
    await links.remove(id)
    going.resolve(true)
    expect(await use).toBeUndefined()
  })
})
