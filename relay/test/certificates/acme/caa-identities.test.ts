// The domains of CAA records, from the directory of an ACME authority over https.

import { Resolver } from 'node:dns/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../../../tools/network/free-port.ts'
import { followCaaIdentities } from '../../../src/features/acme/caa-identities.ts'
import { CAA_IDENTITIES_MAX } from '../../../src/features/acme/limits.ts'
import { readSettings } from '../../../src/index.ts'
import { ACME_HOST, newDirectory, startAcmeRelay, waitFor } from './acme-relay.ts'
import { type ScriptedAuthority, startScriptedAuthority } from './scripted-authority.ts'

let authority: ScriptedAuthority
beforeEach(async () => {
  authority = await startScriptedAuthority()
})
afterEach(() => authority.close())

/** Answers with a directory whose `meta` has these identities. */
function directoryWith(caaIdentities: unknown): void {
  authority.answers['/dir'] = {
    status: 200,
    body: { newOrder: 'https://ca.example/order', meta: { caaIdentities } },
  }
}

interface Followed {
  found: (readonly string[])[]
  failures: string[]
  close(): Promise<void>
}

async function follow(found: Followed['found'] = [], failures: string[] = []): Promise<Followed> {
  const { acme } = readSettings({
    SVC_URL: 'https://relay.example',
    ACME_DIRECTORY: authority.url,
    ACME_CA: authority.caFile,
  })
  const { close } = await followCaaIdentities({
    acme,
    found: async (identities) => void found.push(identities),
    failed: ({ message }) => void failures.push(message),
    firstPauseMs: 1,
  })
  return { found, failures, close }
}

async function identitiesOf(listed: unknown): Promise<readonly string[]> {
  directoryWith(listed)
  const { found, close } = await follow()
  await waitFor(() => found.length > 0)
  await close()
  expect(found).toHaveLength(1)
  return found[0]!
}

test('are those that the directory lists, each once and in lower case', async () => {
  expect(await identitiesOf(['sectigo.com', 'Trust-Provider.com', 'SECTIGO.com'])).toEqual([
    'sectigo.com',
    'trust-provider.com',
  ])
})

test.each([
  ['no list', undefined],
  ['an empty list', []],
  ['something else', { 0: 'ca.example', length: 1 }],
])('with %s there are none', async (_, listed) => {
  expect(await identitiesOf(listed)).toEqual([])
})

test.each([
  ['parameters', 'ca.example; validationmethods=dns-01'],
  ['a quote', 'ca.example"'],
  ['a line', 'ca.example\nissue'],
  ['an empty label', 'ca..example'],
  ['a root label', 'ca.example.'],
  ['a label that begins with a hyphen', '-ca.example'],
  ['a label that ends with a hyphen', 'ca-.example'],
  ['a letter of another script', 'cа.example'],
  ['a wildcard', '*.example'],
  ['a long label', `${'a'.repeat(64)}.example`],
  ['a long name', Array(128).fill('aa').join('.')],
  ['nothing', ''],
  ['a number', 7],
  ['a list', ['ca.example']],
])('a name with %s is left out', async (_, name) => {
  expect(await identitiesOf(['good.example', name])).toEqual(['good.example'])
})

test('of a long list the first are taken', async () => {
  const listed = Array.from({ length: 1000 }, (_, at) => `ca${at}.example`)
  expect(await identitiesOf(listed)).toEqual(listed.slice(0, CAA_IDENTITIES_MAX))
})

test('an authority that does not answer with a directory is asked again, until it does', async () => {
  const { answers } = authority
  answers['/dir'] = { status: 404 }
  const followed = await follow()
  await waitFor(() => followed.failures.length > 1)
  expect(followed.failures[0]).toMatch(/^localhost:\d+ answers \/dir with status 404$/)
  const problem = { type: 'urn:ietf:params:acme:error:malformed', detail: 'Missing\nheader' }
  answers['/dir'] = { status: 400, body: problem }
  await waitFor(() => followed.failures.some((reason) => reason.endsWith('with status 400: Missing header')))
  answers['/dir'] = { status: 200, body: 'a page' }
  const before = followed.failures.length
  await waitFor(() => followed.failures.length > before + 1)
  answers['/dir'] = { status: 200, body: JSON.stringify({ newOrder: 'x'.repeat(300_000) }) }
  await waitFor(() => followed.failures.some((reason) => reason.includes('more than')))
  expect(followed.found).toEqual([])
  directoryWith(['ca.example'])
  await waitFor(() => followed.found.length > 0)
  await followed.close()
  expect(followed.found).toEqual([['ca.example']])
})

test('an authority that never answers does not hold up the end', async () => {
  authority.answers['/dir'] = { status: 200, after: new Promise(() => {}) }
  const followed = await follow()
  await waitFor(() => authority.requests.length > 0)
  await followed.close()
  expect([followed.found, followed.failures]).toEqual([[], []])
})

test('a relay with a name server of its own answers with them', async () => {
  directoryWith(['ca.example'])
  const { directory, remove } = await newDirectory()
  const [port, dnsPort] = [await freePort(), await freePort()]
  const server = `127.0.0.1:${dnsPort}`
  const relay = await startAcmeRelay({ ...authority, directoryUrl: authority.url }, port, directory, {
    ACME_DNS_PROVIDER: 'embedded',
    DNS_ADDR: server,
    PUBLIC_IPS: '192.0.2.1',
  })
  try {
    const resolver = new Resolver()
    resolver.setServers([server])
    const issuers = async (): Promise<unknown[]> =>
      (await resolver.resolveCaa(ACME_HOST).catch(() => [])).map(({ issue }) => issue)
    await waitFor(async () => (await issuers()).length > 0)
    expect(await issuers()).toEqual(['ca.example'])
  } finally {
    await relay.close()
    await remove()
  }
})
