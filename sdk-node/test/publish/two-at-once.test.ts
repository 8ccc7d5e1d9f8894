// Two that publish one name with one identity at the same time, at a real relay: the second serves, and the first gets `lease_replaced`.

import { randomBytes } from 'node:crypto'
import { PATH } from '@svc/protocol'
import { type Platform, publishOn } from '@svc/sdk-core'
import { it as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { CARRIERS, type CarrierKind } from '../../src/carrier/kinds.ts'
import { type NodePublishOptions, publish, type Site, type SvcError } from '../../src/index.ts'
import { nodePlatform } from '../../src/platform.ts'
import { text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'variant')

const relay = useStarted(startTestRelay)

/** The second one publishes while the first waits to send a request, or to be given its answer. */
const MOMENTS = [
  { when: 'after', path: PATH.register },
  { when: 'before', path: PATH.certificateChain },
  { when: 'after', path: PATH.certificateChain },
] as const

/** Publishes on a platform whose requests to `path` wait for `other`. */
function publishAround(
  { relay, ca, carrier, ...options }: NodePublishOptions,
  { when, path }: (typeof MOMENTS)[number],
  other: () => Promise<unknown>,
): Promise<Site> {
  const platform = nodePlatform({ ca, carrier })
  const fetch: Platform['fetch'] = async (url, init) => {
    const isIt = new URL(url).pathname === path
    if (isIt && when === 'before') await other()
    const answer = await platform.fetch(url, init)
    if (isIt && when === 'after') await other()
    return answer
  }
  return publishOn({ ...platform, fetch }, { ...options, relay: relay! })
}

/** Resolves with the code of the error that ended the site: it may have been online for a moment. */
async function endOf(site: Site): Promise<string> {
  return await new Promise((resolve) =>
    site.addEventListener('error', ({ error }) => site.state === 'closed' && resolve(error.code)),
  )
}

it.each(
  atDepth<readonly CarrierKind[]>(CARRIERS, ['native']).flatMap((carrier) =>
    MOMENTS.map((moment) => ({ carrier, ...moment })),
  ),
)('the first gets lease_replaced: $carrier, $when $path', async ({ carrier, ...moment }) => {
  const shared = {
    relay: relay.origin,
    ca: relay.ca,
    carrier,
    name: `w${randomBytes(6).toString('hex')}`,
    identity: Uint8Array.from(randomBytes(32)),
  }
  let second: Promise<Site> | undefined
  const publishSecond = (): Promise<Site> => {
    second ??= publish({ ...shared, fetch: () => new Response('second') })
    return second
  }
  const first = publishAround({ ...shared, fetch: () => new Response('first') }, moment, publishSecond)
  expect(await first.then(endOf, ({ code }: SvcError) => code)).toBe('lease_replaced')
  const site = await publishSecond()
  try {
    expect(await text(await visit(relay, site.url))).toBe('second')
  } finally {
    await site.close()
  }
})
