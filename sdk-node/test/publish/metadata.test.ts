// The metadata that a site shows at a real relay: all of it, or the rest without the picture.

import { once } from 'node:events'
import { expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { publish, type Site } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

const start = (metadata: object, number: number): Promise<Site> =>
  publish({
    relay: relay.origin,
    ca: relay.ca,
    name: `site-${number}`,
    identity: new Uint8Array(32).fill(number),
    fetch: () => new Response('hello'),
    listed: true,
    metadata,
  })

async function shown(name: string): Promise<unknown> {
  const { data } = (await relay.call('/api/state')) as {
    data?: { leases: { name: string; metadata: object }[] }
  }
  return data?.leases.find((lease) => lease.name === name)?.metadata
}

it('a site that does not ask for it is on no list, also with metadata', async () => {
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    name: 'site-4',
    identity: new Uint8Array(32).fill(4),
    fetch: () => new Response('hello'),
    metadata: { description: 'secret' },
  })
  expect(await shown('site-4')).toBeUndefined()
  await site.close()
})

it('a picture of 256 KiB and a description of 4,096 characters are shown whole', async () => {
  const metadata = {
    description: 'd'.repeat(4096),
    thumbnail: `data:image/png;base64,${'A'.repeat(256 * 1024 - 22)}`,
  }
  const site = await start(metadata, 1)
  expect(await shown('site-1')).toEqual({ ...metadata, hide: false })
  await site.close()
})

it.each([
  ['too large', `data:image/png;base64,${'A'.repeat(256 * 1024)}`, 2],
  ['nothing that the relay shows', 'javascript:alert(1)', 3],
])('without a picture that is %s the site is there, and is told', async (_what, thumbnail, number) => {
  const site = await start({ description: 'a site', thumbnail }, number)
  const [event] = await once(site, 'error')
  expect(event.error).toMatchObject({
    code: 'metadata_refused',
    message: expect.stringContaining('without its thumbnail'),
  })
  expect(site.state).toBe('online')
  expect(await shown(`site-${number}`)).toEqual({ description: 'a site', hide: false })
  await site.close()
})
