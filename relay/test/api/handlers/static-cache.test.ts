// `/sdk/cache` at a real relay: who may use it, what it answers, and that nothing is ever half stored.

import { once } from 'node:events'
import type { RegisterResponse } from '@svc/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { CACHE_MANIFEST_BODY, CACHE_UPLOAD_BODY } from '../../../src/core/api/endpoints/endpoints.ts'
import { DISCARDED_BODY_MS } from '../../../src/core/http/discard-body.ts'
import {
  beginPut,
  type OpenRequest,
  openRequest,
  post,
  put,
  putBody,
  remove,
  statusOf,
  visit,
} from '../../support/cache-client.ts'
import { bodyOf, CONTENT_TYPE, manifestOf, partOf, sha256, uploadOf } from '../../support/multipart-body.ts'
import { newAccount, startTestRelay } from '../../support/relay.ts'

const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'
const FILES = { 'index.html': '<h1>stored</h1>', 'main.js': 'console.log(1)' }
const MANIFEST = manifestOf(FILES)
const MIB = 1024 * 1024

const relay = useStarted(() => startTestRelay({ STATIC_CACHE_ENABLED: 'true', ADMIN_TOKEN }))

let count = 0
const lease = (fields: object = {}): Promise<RegisterResponse> => {
  count += 1
  return relay.register(`site${count}`, { cache: true, ...fields })
}

async function decide(update: object): Promise<void> {
  const answer = await relay.call('POST', '/api/policy/leases', update, {
    Authorization: `Bearer ${ADMIN_TOKEN}`,
  })
  expect(answer.status).toBe(200)
}

const keyOf = ({ identity }: RegisterResponse): string => `${identity.name}:${identity.address}`
const refused = (status: number, code: string): object => ({ status, json: { ok: false, error: { code } } })
/** The answer to a site that has to come back later. */
const later = {
  status: 503,
  headers: {
    'content-type': 'text/plain; charset=utf-8',
    'retry-after': '5',
    'access-control-allow-origin': '*',
  },
  text: expect.stringMatching(/^[^{]+\n$/),
}

describe('who may use it', () => {
  const each = (client: { access_token: string }) =>
    Promise.all([post(relay, client, MANIFEST), put(relay, client, FILES), remove(relay, client)])

  test('no one without the token of a lease that opted in; a reverse capability is no such token (protocol §15.1.5)', async () => {
    const { reverse_endpoint } = await lease()
    const without = await lease({ cache: false })
    for (const access_token of ['', 'a.b.c', reverse_endpoint.capability, without.access_token])
      for (const answer of await each({ access_token }))
        expect(answer).toMatchObject(refused(403, 'unauthorized'))
  })

  test('nobody whose lease has ended', async () => {
    const ended = await lease()
    await relay.call('POST', '/sdk/unregister', { access_token: ended.access_token })
    for (const answer of await each(ended)) expect(answer).toMatchObject(refused(404, 'lease_not_found'))
  })

  test('a lease that the policy does not route may only remove its files (protocol §15.1.5)', async () => {
    const denied = await lease()
    await decide({ identity_key: keyOf(denied), is_denied: true })
    const [checked, uploaded, removed] = await each(denied)
    for (const answer of [checked, uploaded]) expect(answer).toMatchObject(refused(403, 'lease_rejected'))
    expect(statusOf(removed!)).toEqual({ present: false })
  })

  test('a page of any origin: preflights name the methods and the header', async () => {
    const preflight = await relay.call('OPTIONS', '/sdk/cache', undefined, {
      Origin: 'https://page.example',
      'Access-Control-Request-Method': 'PUT',
      'Access-Control-Request-Headers': 'x-svc-access-token,content-type',
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST, PUT, DELETE',
        'access-control-allow-headers': 'Content-Type, X-Svc-Access-Token',
      },
    })
    const stored = await put(relay, await lease(), FILES)
    expect(stored).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } })
  })

  test('another method is told so as plain text, with Allow (protocol §2.2.6, §15.1.5)', async () => {
    expect(await relay.call('PATCH', '/sdk/cache')).toMatchObject({
      status: 405,
      headers: { allow: 'POST, PUT, DELETE', 'content-type': 'text/plain; charset=utf-8' },
    })
  })
})

describe('a snapshot', () => {
  test('is absent, is uploaded and present, and is removed', async () => {
    const site = await lease()
    expect(statusOf(await post(relay, site, MANIFEST))).toEqual({ present: false })
    const stored = statusOf(await put(relay, site, FILES))
    expect(stored).toEqual({ present: true, expires_at: expect.any(String) })
    const left = Date.parse(stored.expires_at!) - Date.now()
    expect(Math.round(left / 60_000)).toBe(24 * 60 + 2)
    expect(statusOf(await post(relay, site, MANIFEST))).toEqual(stored)
    expect(await visit(relay, site)).toMatchObject({ status: 200, text: FILES['index.html'] })
    expect(statusOf(await remove(relay, site))).toEqual({ present: false })
    expect(statusOf(await remove(relay, site))).toEqual({ present: false })
    expect(statusOf(await post(relay, site, MANIFEST))).toEqual({ present: false })
  })

  test.each([
    ['another file', { ...FILES, 'more.css': '' }],
    ['another content', { ...FILES, 'main.js': 'console.log(2)' }],
    ['a file less', { 'index.html': FILES['index.html'] }],
  ])('is removed when the site asks for %s', async (_what, files) => {
    const site = await lease()
    await put(relay, site, FILES)
    await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
    const again = await lease()
    await put(relay, again, FILES)
    expect(statusOf(await post(relay, again, manifestOf(files)))).toEqual({ present: false })
    expect(statusOf(await post(relay, again, MANIFEST))).toEqual({ present: false })
  })

  test('of another index is another one', async () => {
    const site = await lease()
    await put(relay, site, FILES)
    expect(statusOf(await post(relay, site, manifestOf(FILES, 'main.js')))).toEqual({ present: false })
  })

  test('is replaced as a whole by another upload (protocol §15.1.4)', async () => {
    const site = await lease()
    await put(relay, site, FILES)
    await put(relay, site, { 'index.html': 'new' })
    expect(await visit(relay, site)).toMatchObject({ status: 200, text: 'new' })
    expect(await visit(relay, site, '/main.js')).toMatchObject({ status: 404 })
  })

  test('ends when another lease of the identity has not opted in', async () => {
    const account = newAccount()
    const site = await relay.register('again', { account, cache: true })
    await put(relay, site, FILES)
    await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
    expect(await visit(relay, site)).toMatchObject({ status: 200 })
    const next = await relay.register('again', { account })
    await relay.call('POST', '/sdk/unregister', { access_token: next.access_token })
    expect(await visit(relay, site)).toBeUndefined()
  })

  test('is not served by the friendly hostname (protocol §15.2.1)', async () => {
    const site = await lease()
    await put(relay, site, FILES)
    await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
    expect(await visit(relay, { canonical_hostname: site.hostname })).toBeUndefined()
    expect(await visit(relay, site)).toMatchObject({ status: 200 })
  })
})

describe('what does not fit is 400, and what was there stays (protocol §15.1.4, §15.1.5)', () => {
  const [manifestPart, ...objects] = uploadOf(FILES)
  const withManifest = (change: object): Buffer =>
    bodyOf([partOf('manifest', JSON.stringify({ ...MANIFEST, ...change }), ''), ...objects])
  const file = (change: object): object => ({
    files: [{ ...MANIFEST.files[0], ...change }, MANIFEST.files[1]],
  })

  test.each<[string, Buffer]>([
    ['no manifest', bodyOf(objects)],
    ['a manifest that is not JSON', bodyOf([partOf('manifest', '{', ''), ...objects])],
    ['an unsafe path', withManifest(file({ path: '../index.html' }))],
    ['an index that is not listed', withManifest({ index: 'none.html' })],
    ['a size that lies', withManifest(file({ size: 3 }))],
    ['a hash that lies', withManifest(file({ sha256: sha256('other') }))],
    ['a file over the limit', withManifest(file({ size: 10 * MIB + 1 }))],
    ['an object too few', bodyOf([manifestPart!, objects[0]!])],
    ['an object too many', bodyOf([manifestPart!, ...objects, objects[0]!])],
    ['a body that ends early', bodyOf([manifestPart!, ...objects]).subarray(0, -20)],
  ])('%s', async (_what, body) => {
    const site = await lease()
    const kept = { 'index.html': 'before' }
    await put(relay, site, kept)
    expect(await putBody(relay, site, body)).toMatchObject(refused(400, 'invalid_request'))
    expect(await visit(relay, site)).toMatchObject({ status: 200, text: 'before' })
    expect(statusOf(await post(relay, site, manifestOf(kept)))).toMatchObject({ present: true })
  })

  test('another media type', async () => {
    const answer = await putBody(relay, await lease(), bodyOf(uploadOf(FILES)), 'application/json')
    expect(answer).toMatchObject(refused(400, 'invalid_request'))
  })

  test('a manifest that is not valid, not JSON, or larger than 1 MiB, by POST', async () => {
    const site = await lease()
    const call = (body: string) =>
      relay.call('POST', '/sdk/cache', body, { 'X-Svc-Access-Token': site.access_token })
    expect(await call('{"index":"a","files":[]}')).toMatchObject(refused(400, 'invalid_request'))
    expect(await call('{')).toMatchObject(refused(400, 'invalid_json'))
    expect(await call(JSON.stringify({ ...MANIFEST, more: 'x'.repeat(MIB) }))).toMatchObject(
      refused(400, 'invalid_request'),
    )
  })

  test('a body that is announced larger than an exposure, the manifest and the heads of the parts', async () => {
    const { request, answer } = openRequest(relay, 'PUT', await lease(), {
      'Content-Type': CONTENT_TYPE,
      'Content-Length': `${CACHE_UPLOAD_BODY.maxBytes + 1}`,
    })
    request.write('--')
    expect(await answer).toMatchObject(refused(400, 'invalid_request'))
    request.destroy()
  })
})

describe('at once', () => {
  const open: OpenRequest[] = []
  afterEach(async () => {
    for (const { request } of open.splice(0)) request.destroy()
    // The relay notices that they are gone.
    await vi.waitFor(async () => expect((await put(relay, await lease(), FILES)).status).toBe(200))
  })
  const begin = async (site: RegisterResponse): Promise<OpenRequest> => {
    const upload = await beginPut(relay, site, { 'index.html': 'x'.repeat(100_000) })
    open.push(upload)
    return upload
  }
  const beginCheck = async (site: RegisterResponse): Promise<OpenRequest> => {
    const check = openRequest(relay, 'POST', site, {
      'Content-Type': 'application/json',
      'Content-Length': '1000',
    })
    await new Promise((sent) => check.request.write('{', sent))
    open.push(check)
    return check
  }

  test.each([
    [
      'uploads',
      begin,
      (site: RegisterResponse) => put(relay, site, FILES),
      (site: RegisterResponse) => post(relay, site, MANIFEST),
    ],
    [
      'checks',
      beginCheck,
      (site: RegisterResponse) => post(relay, site, MANIFEST),
      (site: RegisterResponse) => put(relay, site, FILES),
    ],
  ])(
    'there are two %s: a third one is put off, and so is another one of the same site (protocol §15.1.5)',
    async (_what, beginOne, another, otherKind) => {
      const sites = [await lease(), await lease(), await lease()] as const
      await beginOne(sites[0])
      await vi.waitFor(async () => expect(await another(sites[0])).toMatchObject(later))
      await beginOne(sites[1])
      await vi.waitFor(async () => expect(await another(sites[2])).toMatchObject(later))
      expect(await otherKind(sites[2])).toMatchObject({ status: 200 })
    },
  )
})

test('a POST has ten seconds', async () => {
  const site = await lease()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { answer, request } = openRequest(relay, 'POST', site, {
      'Content-Type': 'application/json',
      'Content-Length': '1000',
    })
    await new Promise((sent) => request.write('{', sent))
    await vi.waitFor(async () => expect(await post(relay, site, MANIFEST)).toMatchObject(later))
    await vi.advanceTimersByTimeAsync(CACHE_MANIFEST_BODY.deadlineMs)
    // The rest of the body may still come for a moment.
    await vi.advanceTimersByTimeAsync(DISCARDED_BODY_MS)
    expect(await answer).toMatchObject({
      ...refused(400, 'invalid_request'),
      text: expect.stringContaining('too long'),
    })
    request.destroy()
  } finally {
    vi.useRealTimers()
  }
  expect(CACHE_MANIFEST_BODY.deadlineMs).toBe(10_000)
})

describe('an upload that is under way ends, and leaves nothing, when', () => {
  const isUnderWay = async (site: RegisterResponse): Promise<void> => {
    await vi.waitFor(async () => expect(await put(relay, site, FILES)).toMatchObject(later))
  }

  test('its lease is replaced', async () => {
    const account = newAccount()
    const site = await relay.register('replaced', { account, cache: true })
    const { answer, request } = await beginPut(relay, site, { 'index.html': 'x'.repeat(100_000) })
    await isUnderWay(site)
    const next = await relay.register('replaced', { account, cache: true })
    expect(await answer).toMatchObject(refused(404, 'lease_not_found'))
    request.destroy()
    await relay.call('POST', '/sdk/unregister', { access_token: next.access_token })
    expect(await visit(relay, site)).toBeUndefined()
  })

  test.each<[string, (site: RegisterResponse) => Promise<unknown>, object]>([
    [
      'its lease ends',
      (site) => relay.call('POST', '/sdk/unregister', site),
      refused(404, 'lease_not_found'),
    ],
    [
      'its identity is banned',
      (site) => decide({ identity_key: keyOf(site), is_banned: true }),
      refused(403, 'lease_rejected'),
    ],
    ['the site removes its files', (site) => remove(relay, site), refused(400, 'invalid_request')],
    [
      'the site asks for another manifest',
      (site) => post(relay, site, MANIFEST),
      refused(400, 'invalid_request'),
    ],
  ])('%s', async (_what, act, expected) => {
    const site = await lease()
    const { answer, request } = await beginPut(relay, site, { 'index.html': 'x'.repeat(100_000) })
    await isUnderWay(site)
    await act(site)
    expect(await answer).toMatchObject(expected)
    request.destroy()
    await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
    expect(await visit(relay, site)).toBeUndefined()
  })

  test('it takes longer than two minutes', async () => {
    const site = await lease()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { answer, request } = await beginPut(relay, site, { 'index.html': 'x'.repeat(100_000) })
      await isUnderWay(site)
      await vi.advanceTimersByTimeAsync(CACHE_UPLOAD_BODY.deadlineMs)
      // The rest of the body may still come for a moment.
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
      await vi.advanceTimersByTimeAsync(DISCARDED_BODY_MS)
      expect(await answer).toMatchObject({
        ...refused(400, 'invalid_request'),
        text: expect.stringContaining('too long'),
      })
      request.destroy()
    } finally {
      vi.useRealTimers()
    }
    expect(CACHE_UPLOAD_BODY.deadlineMs).toBe(120_000)
  })
})

test.each([
  ['', false],
  [', also when the site has just removed the file', true],
])(
  'a ban cuts a visitor in the middle of a download, and closes the hostname%s',
  async (_what, isRemoved) => {
    const site = await lease()
    await put(relay, site, { 'index.html': Buffer.alloc(9 * MIB, 'x') })
    const visitor = relay.tls(site.canonical_hostname)
    await once(visitor, 'secureConnect')
    visitor.write(`GET / HTTP/1.1\r\nHost: ${site.canonical_hostname}:${relay.port}\r\n\r\n`)
    await once(visitor, 'readable')
    if (isRemoved) await remove(relay, site)
    await decide({ identity_key: keyOf(site), is_banned: true })
    let received = 0
    visitor.on('data', ({ length }) => {
      received += length
    })
    await new Promise((closed) => visitor.once('close', closed))
    expect(received).toBeLessThan(9 * MIB)
    expect(await visit(relay, site)).toBeUndefined()
    await decide({ identity_key: keyOf(site), is_banned: false })
    await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
    expect(await visit(relay, site)).toBeUndefined()
  },
)

test('the operator sees the site, its size and its end, and bans what has no lease', async () => {
  const site = await lease()
  await put(relay, site, FILES)
  await relay.call('POST', '/sdk/unregister', { access_token: site.access_token })
  const stored = async () => {
    const { json } = await relay.call('GET', '/api/admin/cache', undefined, {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
    })
    return json.data as unknown as {
      sites: { identity_key: string }[]
      used_bytes: number
      max_bytes: number
    }
  }
  const ours = async () => (await stored()).sites.find(({ identity_key }) => identity_key === keyOf(site))
  expect(await ours()).toMatchObject({
    hostname: site.canonical_hostname,
    files: 2,
    bytes: FILES['index.html'].length + FILES['main.js'].length,
    has_lease: false,
    is_served: true,
    expires_at: expect.any(String),
  })
  const { used_bytes, max_bytes } = await stored()
  expect(used_bytes).toBeGreaterThan(0)
  expect(max_bytes).toBe(1024 * MIB)
  await decide({ identity_key: keyOf(site), is_banned: true })
  expect(await ours()).toBeUndefined()
})
