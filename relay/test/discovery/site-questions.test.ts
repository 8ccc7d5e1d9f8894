// A relay asks others whether they have a site, and believes those that show the site's own statement. Real servers over HTTPS;
// 127.0.0.2 stands for a public address.

import { hash } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { canonicalLabel, type SiteStatement, siteQuestionText } from '@svc/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recoverSigner } from '../../src/core/auth/ethereum-signature.ts'
import { HttpClient } from '../../src/core/outbound/http-client.ts'
import { RelayQueries } from '../../src/features/discovery/relay-queries.ts'
import { isStatedBySite } from '../../src/features/discovery/site-statements.ts'
import { newAccount } from '../support/relay.ts'
import { PRIVATE, type RelayHosts, startRelayHosts } from '../support/relay-hosts.ts'
import { makeStatement } from '../support/site-statement.ts'

const owner = newAccount()
const LABEL = canonicalLabel('secret', owner.address.toLowerCase())
const MiB = 1024 * 1024

let hosts: RelayHosts
let queries: RelayQueries
beforeAll(async () => {
  hosts = await startRelayHosts()
  const client = new HttpClient({
    ca: hosts.ca,
    lookup: hosts.lookup,
    isAllowedAddress: (address) => address === '127.0.0.2',
  })
  queries = new RelayQueries(client, new Set(), () => {}, new AbortController().signal)
})
afterAll(() => hosts.close())

/** Signed by the site for the relay of a name. */
const statedAt = (name: string): Promise<SiteStatement> =>
  makeStatement({
    by: owner,
    canonicalLabel: LABEL,
    origin: hosts.originOf(name),
    issuedAt: Date.now(),
    expiresAt: Date.now() + 240_000,
  })
const send = (response: ServerResponse, data: unknown): void =>
  void response.end(JSON.stringify({ ok: true, data }))
async function has(name: string): Promise<boolean> {
  const origin = hosts.originOf(name)
  const { signal } = new AbortController()
  const statement = await queries.siteStatement(origin, LABEL, signal).catch(() => undefined)
  const site = { canonicalLabel: LABEL, origin }
  return await isStatedBySite(statement, site, Date.now(), async (...signed) => recoverSigner(...signed))
}

test('a relay that has the site shows its statement', async () => {
  const statement = await statedAt('good')
  hosts.answer('good', (_, response) => send(response, { here: true, statement }))
  expect(await has('good')).toBe(true)
})

/** The proof of earlier relays, for which it was enough to know the label of a site. */
const oldProof = (origin: string): string => hash('sha256', `svc site is here\n${LABEL}\n${origin}`)

test.each<[string, () => Promise<RequestListener> | RequestListener]>([
  ['does not have it', () => (_, response) => send(response, { here: false })],
  ['says that it has whatever it is asked for', () => (_, response) => send(response, { here: true })],
  [
    'knows the label of a public site',
    () => (_, response) => send(response, { here: true, proof: oldProof(hosts.originOf('bad')) }),
  ],
  [
    'shows the statement for another relay',
    async () => {
      const statement = await statedAt('good')
      return (_, response) => send(response, { here: true, statement })
    },
  ],
  [
    'has a statement, and does not say that the site is there',
    async () => {
      const statement = await statedAt('bad')
      return (_, response) => send(response, { here: false, statement })
    },
  ],
  ['redirects', () => (_, response) => response.writeHead(302, { Location: hosts.originOf('good') }).end()],
  [
    'answers with a mebibyte',
    async () => {
      const statement = await statedAt('bad')
      return (_, response) => send(response, { here: true, statement, more: 'x'.repeat(MiB) })
    },
  ],
  ['answers with 404', () => (_, response) => response.writeHead(404).end()],
  ['answers with no JSON', () => (_, response) => response.end('yes')],
  ['never answers', () => () => {}],
])('a relay that %s does not have it', async (_what, listener) => {
  hosts.answer('bad', await listener())
  expect(await has('bad')).toBe(false)
})

test('a relay at a private address is not asked', async () => {
  hosts.addresses.set('private', PRIVATE)
  const statement = await statedAt('private')
  hosts.answer('private', (_, response) => send(response, { here: true, statement }))
  expect(await has('private')).toBe(false)
  expect(hosts.asked.filter((line) => line.startsWith('private '))).toEqual([])
})

test('no relay learns the name of a site from the question', async () => {
  expect(new Set(hosts.asked.map((line) => line.split(' ')[1]))).toEqual(
    new Set([`/discovery/site?site=${hash('sha256', siteQuestionText(LABEL))}`]),
  )
})
