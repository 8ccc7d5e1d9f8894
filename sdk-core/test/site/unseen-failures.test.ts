// What goes wrong while a site looks well: its owner sees it, also without a listener for `error`.

import { duplexPair } from 'node:stream'
import { connect } from 'node:tls'
import { webCrypto } from '@svc/tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { publishOn } from '../../src/publish.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import { CLOSE_GRACE_MS } from '../../src/site/relay-carriers.ts'
import type { Site, SiteErrorEvent } from '../../src/site/site.ts'
import { TLS_HANDSHAKE_DEADLINE_MS } from '../../src/tenant/server.ts'
import { failing, RelayDouble, testPlatform } from '../support/relay-double.ts'

const { setTimeout: setRealTimeout } = globalThis
const HOST = 'demo.relay.localhost'
let relay: RelayDouble
let site: Site | undefined
const shown = vi.spyOn(console, 'error').mockImplementation(() => {})

beforeEach(async () => {
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await site?.close()
  site = undefined
  await relay.crash()
  shown.mockClear()
})

async function publish(fetch: PublishOptions['fetch']): Promise<Site> {
  site = await publishOn(testPlatform(), { relay: relay.url, name: 'demo', fetch })
  return site
}

async function visit(): Promise<string> {
  const socket = await relay.visit(HOST)
  socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

/** A visitor who speaks TLS 1.2 alone, which the site does not. */
async function fail(): Promise<void> {
  const [visitor, bridged] = duplexPair()
  await relay.bridge(bridged)
  const socket = connect({ socket: visitor, servername: HOST, maxVersion: 'TLSv1.2' })
  await new Promise((resolve) => socket.once('error', resolve))
}

describe('a handler that throws', () => {
  const thrown = (message: string) => () => {
    throw new Error(message)
  }

  test('is shown on the console, the same error once', async () => {
    const messages = ['one', 'one', 'two']
    await publish(() => thrown(messages.shift()!)())
    for (let visits = 0; visits < 3; visits++) expect(await visit()).toMatch(/^HTTP\/1\.1 500 /)
    const logged = ['one', 'two'].map((message) => [`handler_failed: ${message}`, new Error(message)])
    expect(shown.mock.calls).toEqual(logged)
  })

  test('is not shown where a listener takes the error', async () => {
    const heard: string[] = []
    const listen = ({ error }: SiteErrorEvent): void => void heard.push(error.code)
    const site = await publish(thrown('one'))
    site.addEventListener('error', listen)
    await visit()
    expect([heard, shown.mock.calls]).toEqual([['handler_failed'], []])
    site.removeEventListener('error', listen)
    await visit()
    expect(shown).toHaveBeenCalledOnce()
  })
})

describe('visitors whose handshake fails', () => {
  test('are counted, and the owner is told of the first', async () => {
    const site = await publish(() => new Response('hello'))
    await fail()
    await expect
      .poll(() => shown.mock.calls.map(([text]) => text))
      .toEqual([expect.stringMatching(/^visitor_failed: /)])
    await fail()
    await expect.poll(() => site.stats().failedVisitors).toBe(2)
    expect(shown).toHaveBeenCalledOnce()
  })

  test('are counted alone once a visitor was served', async () => {
    const site = await publish(() => new Response('hello'))
    expect(await visit()).toContain('hello')
    await fail()
    await expect.poll(() => site.stats().failedVisitors).toBe(1)
    expect(shown).not.toHaveBeenCalled()
  })
})

test('cryptography that neither answers nor fails is told at the deadline of the handshake', async () => {
  const deadlines: (() => void)[] = []
  const timer = vi.spyOn(globalThis, 'setTimeout')
  timer.mockImplementation(((run: () => void, ms?: number) => {
    if (ms === TLS_HANDSHAKE_DEADLINE_MS) deadlines.push(run)
    return setRealTimeout(run, ms)
  }) as never)
  const stuck = Promise.withResolvers<void>()
  const agree = (): Promise<never> => {
    stuck.resolve()
    return new Promise(() => {})
  }
  const platform = { ...testPlatform(), tlsCrypto: { ...webCrypto, agree } }
  site = await publishOn(platform, { relay: relay.url, name: 'demo', fetch: () => new Response() })
  const visiting = visit().catch(() => {})
  await stuck.promise
  for (const deadline of deadlines) deadline()
  await visiting
  timer.mockRestore()
  await expect
    .poll(() => shown.mock.calls.map(([text]) => text))
    .toEqual([expect.stringMatching(/^visitor_failed: .*cryptography/)])
  expect(site.stats().failedVisitors).toBe(1)
})

test('a handler that closes its site and waits for that ends, and so does its visitor', async () => {
  const site = await publish(async () => {
    await site.close()
    return new Response('bye')
  })
  // The deadline for visitors never comes: the end of the visitor's connection ends the site.
  const timer = vi.spyOn(globalThis, 'setTimeout')
  timer.mockImplementation(((run: () => void, ms = 0) =>
    setRealTimeout(run, ms === CLOSE_GRACE_MS ? 2 ** 31 - 1 : ms)) as never)
  expect(await visit()).toContain('bye')
  await site.close()
  timer.mockRestore()
  expect(site.state).toBe('closed')
})

test.each(['unauthorized', 'lease_not_found'])(
  'a publish that another one has replaced meanwhile is told so: %s',
  async (code) => {
    relay.isFull = true
    relay.overrides['/sdk/reverse'] = failing(403, code)
    await expect(publish(() => new Response())).rejects.toMatchObject({ code: 'lease_replaced' })
    expect(relay.count('/sdk/register')).toBe(1)
  },
)

test('so is one whose certificate chain is refused first', async () => {
  for (const path of ['/sdk/certificate-chain', '/sdk/reverse'])
    relay.overrides[path] = failing(403, 'unauthorized')
  await expect(publish(() => new Response())).rejects.toMatchObject({ code: 'lease_replaced' })
})

test('a stored key that is damaged is no wrong option', async () => {
  const platform = { ...testPlatform(), loadIdentity: async () => new Uint8Array(31) }
  const options = { relay: relay.url, name: 'demo', fetch: () => new Response() }
  await expect(publishOn(platform, options)).rejects.toMatchObject({ code: 'identity_unavailable' })
})

test.each([
  [Promise, 'withResolvers'],
  [URL, 'parse'],
])('a platform that is too old is told so: %s', async (owner, name) => {
  const own = Object.getOwnPropertyDescriptor(owner, name)!
  Reflect.deleteProperty(owner, name)
  try {
    const options = { relay: relay.url, name: 'demo', fetch: () => new Response() }
    await expect(publishOn(testPlatform(), options)).rejects.toMatchObject({
      code: 'unsupported_platform',
      message: expect.stringMatching(/zone\.js/),
    })
  } finally {
    Object.defineProperty(owner, name, own)
  }
})

test('a page that is no secure context has no WebCrypto, and serves its visitors all the same', async () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) })
  try {
    await publish(() => new Response('hello'))
    expect(await visit()).toContain('hello')
  } finally {
    vi.unstubAllGlobals()
  }
})
