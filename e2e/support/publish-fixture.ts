// The fixture `publishAs`: sites of this process, each with an identity of its own, which end with the test.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type PublishOptions, publish, type Site } from '@svc/sdk-node'
import type { TestRelay } from '../../tools/relay/test-relay.ts'

/** The site is on the relay's list, unless it says otherwise. */
export type PublishAs = (
  name: string,
  metadata?: PublishOptions['metadata'],
  isListed?: boolean,
) => Promise<Site>

export async function publishAs(
  { relay }: { relay: TestRelay },
  use: (publishAs: PublishAs) => Promise<void>,
): Promise<void> {
  const ca = await readFile(relay.caFile, 'utf8')
  const all: Site[] = []
  await use(async (name, metadata, listed = true) => {
    const options = { relay: relay.url, name, ca, identity: randomBytes(32), listed, metadata }
    const site = await publish({ ...options, fetch: () => new Response('here') })
    all.push(site)
    return site
  })
  await Promise.all(all.map((site) => site.close()))
}
