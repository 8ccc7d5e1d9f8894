// A page learns where its visitors come from: what reads that is a part of the bundle that only such pages load.

import { curl } from '../tools/programs/curl.ts'
import { expect, test } from './fixtures.ts'

test('a page that asks gets the address of curl and of a browser, and one that does not ask gets none', async ({
  relay,
  tenant,
  visitor,
}) => {
  const [asking, other] = await tenant.evaluate(async (relayUrl) => {
    const publish = async (name: string, visitorAddress: boolean): Promise<string> => {
      const site = await svc.publish({
        relay: relayUrl,
        name,
        identity: crypto.getRandomValues(new Uint8Array(32)),
        visitorAddress,
        fetch: (_request, { remote }) => Response.json(remote ?? null),
      })
      return site.url
    }
    return [await publish('asks-for-addresses', true), await publish('asks-for-none', false)] as const
  }, relay.url)
  const remote = (address: string) => ({
    address,
    port: expect.any(Number),
    reportedBy: 'relay',
    traceId: expect.stringMatching(/^[\da-f]{32}$/),
  })
  for (const address of ['127.0.0.2', '127.0.0.9'])
    expect(JSON.parse(String(await curl(relay.caFile, '--interface', address, asking)))).toEqual(
      remote(address),
    )
  expect(await (await visitor.goto(asking))?.json()).toEqual(remote('127.0.0.1'))
  expect(JSON.parse(String(await curl(relay.caFile, '--interface', '127.0.0.2', other)))).toBeNull()
})
