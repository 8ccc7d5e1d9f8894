// A relay asks others whether they have a site, and believes those that prove it. Real servers over HTTPS; 127.0.0.2 stands
// for a public address.

import { hash } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { sitePresenceText, siteQuestionText } from '@svc/protocol'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RelayQueries } from '../../src/discovery/relay-queries.ts'
import { HttpClient } from '../../src/outbound/http-client.ts'
import { PRIVATE, type RelayHosts, startRelayHosts } from '../support/relay-hosts.ts'

vi.mock('../../src/discovery/limits.ts', async (original) => ({
  ...(await original<object>()),
  SITE_QUESTION_DEADLINE_MS: 1_000,
}))

const LABEL = `secret-${'ab'.repeat(20)}`
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

const proofAt = (origin: string): string => hash('sha256', sitePresenceText(LABEL, origin))
const send = (response: ServerResponse, data: unknown): void =>
  void response.end(JSON.stringify({ ok: true, data }))
const has = (name: string): Promise<boolean> =>
  queries.hasSite(hosts.originOf(name), LABEL, new AbortController().signal).catch(() => false)

test('a relay that has the site shows that it knows it', async () => {
  hosts.answer('good', (_, response) =>
    send(response, { here: true, proof: proofAt(hosts.originOf('good')) }),
  )
  expect(await has('good')).toBe(true)
})

test.each<[string, RequestListener]>([
  ['does not have it', (_, response) => send(response, { here: false })],
  ['says that it has whatever it is asked for', (_, response) => send(response, { here: true })],
  [
    'shows the proof of another relay',
    (_, response) => send(response, { here: true, proof: proofAt(hosts.originOf('good')) }),
  ],
  [
    'shows the question as its proof',
    ({ url }, response) => send(response, { here: true, proof: url?.split('=')[1] }),
  ],
  ['redirects', (_, response) => response.writeHead(302, { Location: hosts.originOf('good') }).end()],
  [
    'answers with a mebibyte',
    (_, response) =>
      send(response, { here: true, proof: proofAt(hosts.originOf('bad')), more: 'x'.repeat(MiB) }),
  ],
  ['answers with 404', (_, response) => response.writeHead(404).end()],
  ['answers with no JSON', (_, response) => response.end('yes')],
  ['never answers', () => {}],
])('a relay that %s does not have it', async (_what, listener) => {
  hosts.answer('bad', listener)
  expect(await has('bad')).toBe(false)
})

test('a relay at a private address is not asked', async () => {
  hosts.addresses.set('private', PRIVATE)
  hosts.answer('private', (_, response) =>
    send(response, { here: true, proof: proofAt(hosts.originOf('private')) }),
  )
  expect(await has('private')).toBe(false)
  expect(hosts.asked.filter((line) => line.startsWith('private '))).toEqual([])
})

test('no relay learns the name of a site from the question', async () => {
  expect(new Set(hosts.asked.map((line) => line.split(' ')[1]))).toEqual(
    new Set([`/discovery/site?site=${hash('sha256', siteQuestionText(LABEL))}`]),
  )
})
