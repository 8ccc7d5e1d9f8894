// A site without a name has that of its identity, at a real relay, and again the next time.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { publish } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

let folder: string
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-nameless-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function urlsOf(person: string): Promise<string[]> {
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identityPath: join(folder, `${person}.json`),
    fetch: () => new Response(),
  })
  const urls = [site.url, site.canonicalUrl]
  await site.close()
  return urls
}

it('is that of the identity, so that two people have two and each keeps theirs', async () => {
  const [url, canonicalUrl] = await urlsOf('alice')
  const [, digits] = /-([0-9a-f]{8})[0-9a-f]{32}\./.exec(canonicalUrl!)!
  expect(new URL(url!).hostname).toBe(`svc-${digits}.${new URL(relay.origin).hostname}`)
  expect(await urlsOf('alice')).toEqual([url, canonicalUrl])
  expect((await urlsOf('bob'))[0]).not.toBe(url)
})
