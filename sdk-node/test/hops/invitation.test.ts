// A site with an invitation on a route over two real relays: each relay of the route that asks for one gets it, and no other.

import { randomBytes } from 'node:crypto'
import type { NewInvitation } from '@svc/protocol'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  type OverlayMember,
  type OverlayRelays,
  startOverlayRelays,
} from '../../../relay/test/support/overlay-relays.ts'
import { expose } from '../../src/expose/expose.ts'

const PATIENT_MS = 120_000
const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

let group: OverlayRelays
let [open, closed]: OverlayMember[] = []
/** Sites so far: each has a name of its own. */
let count = 0

beforeAll(async () => {
  group = await startOverlayRelays('61.8', ['open.localhost', 'closed.localhost'], (index) => ({
    ADMIN_TOKEN,
    ...(index === 1 && { REGISTRATION: 'token' }),
  }))
  ;[open, closed] = group.members
  await group.known()
}, PATIENT_MS)
afterAll(() => group?.close())

async function invite(): Promise<string> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const { json } = await closed!.call('POST', '/api/policy/invitations', { names: 1 }, headers)
  return (json.data as unknown as NewInvitation).token
}

const given = (relays: OverlayMember[], invitation?: string) => ({
  relay: relays[0]!.origin,
  via: relays.slice(1).map(({ origin }) => origin),
  ca: group.ca,
  identity: new Uint8Array(randomBytes(32)),
  name: `guest-${++count}`,
  fetch: () => new Response('hello'),
  invitation,
})

test.each([
  ['at the entry of the route', () => [closed!, open!]],
  ['behind the entry of the route', () => [open!, closed!]],
])(
  'an invitation lets a site in %s, and without one it stays out',
  { timeout: PATIENT_MS },
  async (_, relays) => {
    await expect(expose(given(relays()))).rejects.toThrow('without an invitation')
    const site = await expose(given(relays(), await invite()))
    expect(site.sites.map(({ state }) => state)).toEqual(['online'])
    await site.close()
  },
)
