// The options of `publish`: what is refused says which option and why.

import { describe, expect, expectTypeOf, it } from 'vitest'
import type { CacheFiles, CacheOptions } from '../../src/cache/cache-options.ts'
import type { OPTION_MEMBERS, PUBLISH_OPTIONS } from '../../src/option-names.ts'
import { type PublishOptions, parseOptions, readOptions } from '../../src/site/options.ts'
import type { TlsOptions } from '../../src/tenant/server.ts'

const TLS12 = /TLSv1\.2 needs certificate: own, since the relay signs TLS 1\.3 only/
const good: PublishOptions = { relay: 'https://relay.example', name: 'demo', fetch: () => new Response() }

it('have defaults', () => {
  expect(parseOptions(good)).toMatchObject({
    name: 'demo',
    ttlS: 120,
    allowCanonicalFallback: false,
    http2: true,
    certificate: 'own',
  })
})

it('tell the relay to list a site that says so, and no other, whatever its metadata say', () => {
  const owner = 'me'
  expect(parseOptions(good).metadata).toEqual({ hide: true })
  expect(parseOptions({ ...good, metadata: { owner } }).metadata).toEqual({ owner, hide: true })
  expect(parseOptions({ ...good, listed: true, metadata: { owner } }).metadata).toEqual({
    owner,
    hide: false,
  })
  const foreign = { owner, hide: false }
  expect(parseOptions({ ...good, metadata: foreign }).metadata).toEqual({ owner, hide: true })
})

it('take names of fields in any case', () => {
  expect(parseOptions({ ...good, allowFields: ['X-Real-IP'] }).allowFields).toEqual(['x-real-ip'])
})

it('take TLS 1.2, which the key of a site itself may sign', () => {
  expect(parseOptions({ ...good, tls: { minVersion: 'TLSv1.2' } }).tls).toEqual({ minVersion: 'TLSv1.2' })
})

it('refuse a route over several relays, which a page cannot make', async () => {
  const routed = { ...good, route: ['https://relay.example', 'https://other.example'] }
  await expect(readOptions(routed)).rejects.toThrow('route needs the SDK for Node')
})

it('need no name', () => {
  const { name, ...nameless } = good
  expect(parseOptions(nameless).name).toBeUndefined()
})

it('take a name in any case, and a relay with a port and a path', () => {
  const { name, relay } = parseOptions({
    ...good,
    name: ' Demo-1 ',
    relay: new URL('https://relay.example:4433/x'),
  })
  expect([name, relay.origin]).toEqual(['demo-1', 'https://relay.example:4433'])
})

it('ask for no static cache, or for one with an index and the time that the relay chooses', () => {
  expect(parseOptions(good).cache).toBeUndefined()
  const files = { 'index.html': 'hello' }
  expect(parseOptions({ ...good, cache: { files } }).cache).toMatchObject({ index: 'index.html', ttlS: 0 })
  const given = parseOptions({ ...good, cache: { files: () => files, index: 'a.html', ttl: 60 } }).cache
  expect(given).toMatchObject({ index: 'a.html', ttlS: 60 })
  expect(given?.files()).toBe(files)
})

describe('refuses', () => {
  it.each([
    ['a plain http relay', { relay: 'http://relay.example' }, /relay must be an https: URL, not http:/],
    ['a WebSocket relay', { relay: 'wss://relay.example' }, /not wss:/],
    ['a relay without a scheme', { relay: 'relay.example' }, /is not a URL/],
    [
      'a relay with credentials',
      { relay: 'https://user:secret@relay.example' },
      /^relay must not carry credentials$/,
    ],
    ['an empty name', { name: '' }, /name/],
    ['a name of 23 characters', { name: 'a'.repeat(23) }, /1 to 22/],
    ['two labels', { name: 'a.b' }, /one DNS label/],
    ['a leading hyphen', { name: '-a' }, /name/],
    ['null as a name', { name: null as unknown as string }, /name/],
    ['no handler', { fetch: undefined as unknown as PublishOptions['fetch'] }, /fetch must be a function/],
    [
      'a TLS version of old',
      { tls: { minVersion: 'TLSv1.1' as 'TLSv1.3' } },
      /minVersion must be TLSv1.3 or/,
    ],
    ['TLS 1.2 with the shared key', { certificate: 'shared', tls: { minVersion: 'TLSv1.2' } }, TLS12],
    ['another certificate', { certificate: 'mine' as 'own' }, /certificate must be own or shared, not mine/],
    ['a ttl of 0', { ttl: 0 }, /1 to 600/],
    ['a ttl of 601', { ttl: 601 }, /1 to 600/],
    ['half a second', { ttl: 1.5 }, /whole number/],
    ['no connection', { maxConnections: 0 }, /maxConnections must be a whole number from 1 to 3500/],
    ['more connections than fit on its WebSockets', { maxConnections: 3501 }, /maxConnections/],
    ['half a connection', { maxConnections: 0.5 }, /maxConnections/],
    ['an invalid cache', { cache: null as unknown as CacheOptions }, /^cache must be an object/],
    ['a cache without files', { cache: {} as CacheOptions }, /^cache\.files must be a map/],
    [
      'a path as files',
      { cache: { files: './dist' as unknown as CacheFiles } },
      /^cache\.files must be a map/,
    ],
    ['bytes as files', { cache: { files: new Uint8Array(1) as unknown as CacheFiles } }, /^cache\.files/],
    ['one file as files', { cache: { files: new File([], 'a') as unknown as CacheFiles } }, /^cache\.files/],
    ['no index', { cache: { files: [], index: '' } }, /^cache\.index must be the path of a file/],
    ['a negative time', { cache: { files: [], ttl: -1 } }, /^cache\.ttl must be a whole number/],
    ['a time without end', { cache: { files: [], ttl: Number.POSITIVE_INFINITY } }, /^cache\.ttl/],
  ] satisfies [string, Partial<PublishOptions>, RegExp][])('%s', async (_, change, message) => {
    await expect(readOptions({ ...good, ...change })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) }),
    )
  })
})

describe('that do not exist', () => {
  it.each([
    [{ fetsh: () => new Response() }, 'there is no option fetsh: is fetch meant?'],
    [{ Name: 'demo' }, 'there is no option Name: is name meant?'],
    [{ maxConnection: 1 }, 'there is no option maxConnection: is maxConnections meant?'],
    [{ tls: { minVersoin: 'TLSv1.2' } }, 'there is no option tls.minVersoin: is tls.minVersion meant?'],
    [{ cache: { files: {}, fallbak: false } }, 'there is no option cache.fallbak: is cache.fallback meant?'],
    [{ colour: 'red' }, 'there is no option colour'],
    [{ constructor: 1 }, 'there is no option constructor'],
    [{ 'a.b': 1 }, 'there is no option a.b'],
    [{ hide: true }, 'there is no option hide: a site is on no list unless it has listed: true'],
  ])('%o', async (change, message) => {
    const options = { ...good, ...change } as PublishOptions
    await expect(readOptions(options)).rejects.toMatchObject({ code: 'invalid_option', message })
  })

  it('are all but those that do', () => {
    type Named = (typeof PUBLISH_OPTIONS | typeof OPTION_MEMBERS)[number]
    type Members = `tls.${keyof TlsOptions}` | `cache.${keyof CacheOptions}`
    expectTypeOf<Named>().toEqualTypeOf<keyof PublishOptions | Members>()
  })

  it('come before a missing one, which they may be', async () => {
    const { fetch, ...others } = good
    const options = { ...others, fetsh: fetch } as unknown as PublishOptions
    await expect(readOptions(options)).rejects.toMatchObject({ message: /fetsh: is fetch meant/ })
  })
})

describe('of a wrong type are named', () => {
  const text = 'text' as never
  it.each([
    ...(['allowCanonicalFallback', 'awayPage', 'listed', 'http2', 'hsts', 'globals'] as const).map(
      (name): [string, object] => [`${name} must be true or false`, { [name]: text }],
    ),
    ...(['fetch', 'onSite', 'debug'] as const).map((name): [string, object] => [
      `${name} must be a function`,
      { [name]: text },
    ]),
    ['relays must be an array of URLs', { relays: text }],
    ['signal must be an AbortSignal', { signal: text }],
    ['signal must be an AbortSignal', { signal: null }],
    ['metadata must be an object', { metadata: text }],
    ['allowFields must be an array of names', { allowFields: text }],
    ['allowFields must be an array of names', { allowFields: [1] }],
    ['identity must be a private key of 32 bytes (Uint8Array) or the name of a stored one', { identity: 1 }],
    ['tls must be an object', { tls: text }],
    ['tls.onSecret must be a function', { tls: { onSecret: text } }],
    ['cache.fallback must be true or false', { cache: { files: [], fallback: text } }],
    ['ttl must be a whole number of seconds from 1 to 600', { ttl: '60' }],
    ['maxConnections must be a whole number from 1 to 3500', { maxConnections: '60' }],
    ['relay 1 is not a URL', { relay: 1 }],
    ['relay of type object is not a URL', { relay: Object.create(null) }],
    ['name must be one DNS label: 1 to 22 letters, digits and inner hyphens', { name: 1 }],
  ])('%s', async (message, change) => {
    await expect(readOptions({ ...good, ...change })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_option', message }),
    )
  })

  it.each([undefined, null, 'text', 1])('no options: %s', async (options) => {
    await expect(readOptions(options as never)).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('a key that was given as text, which is not shown', async () => {
    const digits = 'ab'.repeat(32)
    for (const identity of [digits, `0x${digits}`]) {
      const error = await readOptions({ ...good, identity }).catch((error) => error)
      expect(error).toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^identity .*32 bytes/),
      })
      expect(error.message).not.toContain(digits)
    }
  })
})
