// The policy of each relay of a route holds for what it passes on, and every process of a relay knows its routes.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { identityFromKey, type Site } from '@svc/sdk-core'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import {
  type OverlayMember,
  type OverlayRelays,
  startOverlayRelays,
} from '../../../relay/test/support/overlay-relays.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { publish } from '../../src/publish.ts'

const test = wholeOnly(every, 'variant')

const PATIENT_MS = 120_000
const ADMIN_TOKEN = 'an-admin-token-for-this-test-alone'
const PROCESSES = 2

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

const key = new Uint8Array(randomBytes(32))
let group: OverlayRelays
let first: OverlayMember
let last: OverlayMember
let site: Site

beforeAll(async () => {
  group = await startOverlayRelays('61.3', ['first.localhost', 'last.localhost'], {
    ADMIN_TOKEN,
    SVC_WORKERS: `${PROCESSES}`,
  })
  ;[first, last] = group.members as [OverlayMember, OverlayMember]
  await group.known()
  const route = [first.origin, last.origin]
  site = await publish({
    name: 'demo',
    route,
    ca: group.ca,
    identity: key,
    fetch: () => new Response('hello'),
  })
})

afterAll(async () => {
  await site?.close()
  await group?.close()
})

/** @returns the body, or the code of the error */
async function visit(): Promise<string> {
  const { hostname: servername, port, host: Host } = new URL(site.url)
  const { ca } = first
  const asked = httpsRequest({ host: '127.0.0.1', servername, port, ca, agent: false, headers: { Host } })
  asked.end()
  try {
    const [answer] = await once(asked, 'response')
    let text = ''
    for await (const chunk of answer) text += chunk
    return text
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'refused'
  }
}

async function ban({ call }: OverlayMember, is_banned: boolean): Promise<void> {
  const identity_key = `demo:${identityFromKey(key).address.toLowerCase()}`
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const { status } = await call('POST', '/api/policy/leases', { identity_key, is_banned }, headers)
  expect(status).toBe(200)
}

test('visitors of every process are passed on to every process', async () => {
  const visits = await Promise.all(Array.from({ length: 12 * PROCESSES }, visit))
  expect(new Set(visits)).toEqual(new Set(['hello']))
})

test.each([
  ['first', () => first],
  ['last', () => last],
])(
  'a ban at the %s relay keeps visitors out until it is lifted',
  { timeout: PATIENT_MS },
  async (_, relay) => {
    await ban(relay(), true)
    await vi.waitFor(async () => expect(await visit()).not.toBe('hello'), {
      timeout: PATIENT_MS,
      interval: 100,
    })
    await ban(relay(), false)
    await vi.waitFor(async () => expect(await visit()).toBe('hello'), { timeout: PATIENT_MS, interval: 100 })
  },
)
