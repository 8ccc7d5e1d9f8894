// What depends on the operator: landing page, installer, and features that are off and say so.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RELEASE_VERSION } from '../../../src/core/version.ts'
import { startTestRelay, type TestRelay } from '../../support/relay.ts'

const ADMIN_TOKEN = 'a-long-random-value'

let directory: string
let relay: TestRelay
let bare: TestRelay
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-features-'))
  await mkdir(join(directory, 'site/admin'), { recursive: true })
  await writeFile(join(directory, 'site/index.html'), 'landing')
  await writeFile(join(directory, 'site/admin/index.html'), 'admin')
  for (const folder of ['assets', 'sites', '.git']) await mkdir(join(directory, 'site', folder))
  await writeFile(join(directory, 'site/sites/index.html'), 'sites')
  await writeFile(join(directory, 'site/.git/config'), 'hidden')
  for (const [ending, text] of Object.entries({ '': 'code', '.gz': 'gzipped', '.br': 'brotli' }))
    await writeFile(join(directory, `site/assets/index-Ab3_x-9Z.js${ending}`), text)
  await mkdir(join(directory, 'install/bin/linux-arm64'), { recursive: true })
  await writeFile(join(directory, 'install/install.sh'), '#!/bin/sh\n')
  await writeFile(join(directory, 'install/bin/linux-amd64'), Buffer.of(0x7f, 0x45, 0x4c, 0x46))
  relay = await startTestRelay({
    ADMIN_TOKEN,
    SVC_SITE_DIR: join(directory, 'site'),
    SVC_INSTALL_DIR: join(directory, 'install'),
  })
  bare = await startTestRelay()
})
afterAll(async () => {
  await Promise.all([relay.close(), bare.close()])
  await rm(directory, { recursive: true })
})

describe('GET /', () => {
  test('is the landing page, until the policy turns it off; the rest of the site stays', async () => {
    expect(await relay.call('GET', '/')).toMatchObject({ status: 200, text: 'landing' })
    const settings = {
      approval_mode: 'auto',
      landing_page_enabled: false,
      udp: { enabled: false, max_leases: 0 },
      tcp_port: { enabled: false, max_leases: 0 },
    }
    await relay.call('POST', '/api/policy', settings, { Authorization: `Bearer ${ADMIN_TOKEN}` })
    for (const path of [
      '/',
      '/index.html',
      '/?a',
      '/index',
      '/%69ndex',
      '/sites',
      '/sites/',
      '/sites/index.html',
    ])
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
    expect(await relay.call('GET', '/admin/')).toMatchObject({ status: 200, text: 'admin' })
    expect((await relay.call('GET', '/api/state')).json.data).toMatchObject({ landing_page_enabled: false })
  })
})

describe('the static site', () => {
  const path = '/assets/index-Ab3_x-9Z.js'

  test('names with a hash are kept for good, all else is asked for again', async () => {
    const { headers } = await relay.call('GET', path)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const page = await relay.call('GET', '/admin/')
    expect(page.headers['cache-control']).toBe('no-cache')
    const { etag } = page.headers
    const again = await relay.call('GET', '/admin/', undefined, { 'If-None-Match': `${etag}` })
    expect(again).toMatchObject({ status: 304, text: '' })
    await writeFile(join(directory, 'site/admin/index.html'), 'a rebuilt page')
    expect(await relay.call('GET', '/admin/', undefined, { 'If-None-Match': `${etag}` })).toMatchObject({
      status: 200,
      text: 'a rebuilt page',
    })
  })

  test.each([
    ['br, gzip', 'brotli', 'br'],
    ['gzip', 'gzipped', 'gzip'],
    ['identity', 'code', undefined],
  ])('accepted encodings %s', async (accepted, text, encoding) => {
    const answer = await relay.call('GET', path, undefined, { 'Accept-Encoding': accepted })
    expect(answer).toMatchObject({
      status: 200,
      text,
      headers: { vary: 'Accept-Encoding', 'content-type': 'text/javascript; charset=utf-8' },
    })
    expect(answer.headers['content-encoding']).toBe(encoding)
  })

  test('only what it brought along runs in it, and nobody frames it', async () => {
    for (const [path, status] of Object.entries({ '/admin/': 200, '/nothing': 404 })) {
      const answer = await relay.call('GET', path)
      expect(answer.status).toBe(status)
      const policy = `${answer.headers['content-security-policy']}`.split('; ')
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ])
        expect(policy).toContain(rule)
      expect(policy.join()).not.toMatch(/unsafe|\*/)
      expect(answer.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    }
  })

  test.each([
    '/.git/config',
    '/%2egit/config',
    '/assets/../.git/config',
    '/%00',
    '/../features.test.ts',
    '/%E0',
  ])('%s is not found', async (path) => {
    expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
  })
})

describe('the installer', () => {
  test.each([
    ['/api/install.sh', 'text/x-shellscript', '#!/bin/sh\n'],
    ['/api/install/bin/linux-amd64', 'application/octet-stream', '\x7fELF'],
  ])('GET and HEAD %s', async (path, type, text) => {
    const headers = { 'content-type': type, 'content-length': `${text.length}` }
    expect(await relay.call('GET', path)).toMatchObject({ status: 200, text, headers })
    expect(await relay.call('HEAD', path)).toMatchObject({ status: 200, text: '', headers })
    expect(await relay.call('POST', path)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  test('offers nothing that is not there, a directory neither, and no path outside', async () => {
    const missing = { status: 404, text: '# this relay does not have that file\n' }
    expect(await relay.call('GET', '/api/install/bin/SHA256SUMS')).toMatchObject(missing)
    expect(await relay.call('GET', '/api/install/bin/linux-arm64')).toMatchObject(missing)
    for (const slug of ['', 'other', '..%2finstall.sh', '../../site/index.html', 'constructor'])
      expect(await relay.call('GET', `/api/install/bin/${slug}`)).toMatchObject({ status: 404 })
  })

  test('renders a script that the directory does not have', async () => {
    const { text } = await relay.call('GET', '/api/install.ps1')
    expect(text).toContain(`irm ${relay.origin}/api/install.ps1 | iex`)
    expect(text).toContain('$Sums = @{\n}\n')
  })

  test('has scripts without a directory, too', async () => {
    for (const path of ['/api/install.sh', '/api/install.ps1'])
      expect(await bare.call('GET', path)).toMatchObject({
        status: 200,
        text: expect.stringContaining(bare.origin),
      })
  })
})

describe('features that are off', () => {
  const unavailable = { status: 503, json: { ok: false, error: { code: 'feature_unavailable' } } }

  test.each([
    ['GET', '/discovery'],
    ['POST', '/discovery/announce'],
  ])('%s %s is feature_unavailable (protocol §14.1.1)', async (method, path) => {
    expect(await relay.call(method, path)).toMatchObject(unavailable)
    expect(await relay.call('PATCH', path)).toMatchObject({
      status: 405,
      headers: { allow: expect.stringContaining(method) },
      json: { error: { code: 'method_not_allowed' } },
    })
  })

  test.each(['GET', 'POST', 'DELETE'])(
    '%s /sdk/hop is not found: it is for relays among themselves',
    async (method) => {
      expect(await relay.call(method, '/sdk/hop')).toMatchObject({ status: 404, text: 'Not found\n' })
      expect(await bare.call(method, '/sdk/hop')).toMatchObject({ status: 404, text: 'Not found\n' })
    },
  )

  test.each(['POST', 'PUT', 'DELETE'])(
    '%s /sdk/cache: first the token, then that it is off',
    async (method) => {
      const { access_token, reverse_endpoint } = await relay.register(`cache-${method}`, { cache: true })
      const call = (token: string) =>
        relay.call(method, '/sdk/cache', undefined, { 'X-Svc-Access-Token': token })
      expect(await call(access_token)).toMatchObject(unavailable)
      for (const token of ['', 'a.b.c', reverse_endpoint.capability])
        expect(await call(token)).toMatchObject({ status: 403, json: { error: { code: 'unauthorized' } } })
      await relay.call('POST', '/sdk/unregister', { access_token })
      expect(await call(access_token)).toMatchObject({
        status: 404,
        json: { error: { code: 'lease_not_found' } },
      })
    },
  )

  test('another method on /sdk/cache is told so outside the envelope; a preflight within CORS', async () => {
    expect(await relay.call('GET', '/sdk/cache')).toMatchObject({
      status: 405,
      headers: { allow: 'POST, PUT, DELETE', 'content-type': 'text/plain; charset=utf-8' },
    })
    expect(await relay.call('OPTIONS', '/sdk/cache')).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-methods': 'POST, PUT, DELETE' },
    })
  })

  test.each(['supported', 'verify', 'settle'])('/api/x402/%s does not exist', async (name) => {
    expect(await relay.call('POST', `/api/x402/${name}`)).toMatchObject({ status: 404, text: 'Not found\n' })
  })

  test('overlay and cache are preferences: a lease that asks for them is direct, and live', async () => {
    const lease = await relay.register('prefers', { overlay: true, cache: true, cache_ttl: 60 })
    expect(lease.reverse_endpoint).toMatchObject({ overlay: false, url: `${relay.origin}/sdk/connect` })
    expect(lease.reverse_endpoint).not.toHaveProperty('gateway')
    const failed_url = 'https://gateway.example/sdk/connect'
    const { data } = (
      await relay.call('POST', '/sdk/reverse', { access_token: lease.access_token, failed_url })
    ).json
    expect(data).toMatchObject({ overlay: false, url: `${relay.origin}/sdk/connect` })
  })

  test.each([{ udp_enabled: true }, { tcp_enabled: true }])(
    'cache with %j is invalid_request',
    async (fields) => {
      const identity = { name: 'raw', address: `0x${'ab'.repeat(20)}` }
      const body = { identity, cache: true, ...fields }
      expect(await relay.call('POST', '/sdk/register/challenge', body)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request' } },
      })
    },
  )

  test('DomainResponse says what there is, that ENS and x402 are off, and leaves the cache out', async () => {
    const { data } = (await relay.call('GET', '/sdk/domain')).json
    expect(data).toEqual({
      protocol_version: '10',
      release_version: RELEASE_VERSION,
      extensions: [
        'hello_retry_request',
        'sha384',
        'certificate_compression',
        'native_yamux',
        'visitor_address',
        'go',
        'site_certificate',
        'custom_domains',
      ],
      // the operator has an install.sh of its own
      downloads: true,
      ens: {
        enabled: false,
        verified: false,
        provider: '',
        address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
        dnssec_state: '',
        ds_record: '',
        message: '',
        last_error: '',
      },
      x402: { enabled: false, url: '', network: '', network_name: '', supported_url: '', pay_to: '' },
    })
  })
})
