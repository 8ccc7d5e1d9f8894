// A page under autocannon: 50 connections that ask without a pause, and not one answer that is missing or wrong.
import { readFile } from 'node:fs/promises'
import { requestsPerSecond } from '../tools/load/requests-per-second.ts'
import { expect, test } from './fixtures.ts'

const CONNECTIONS = 50
const SECONDS = 3

test(`${CONNECTIONS} connections for ${SECONDS} s`, async ({ relay, tenant }) => {
  const url = await tenant.evaluate(async (relay) => {
    const fetch = (): Response => new Response('hello, visitor')
    return (await svc.publish({ relay, name: 'throughput', fetch })).url
  }, relay.url)
  const ca = await readFile(relay.caFile, 'utf8')
  const load = requestsPerSecond({ url, ca, connections: CONNECTIONS, seconds: SECONDS })
  await expect(load).resolves.toBeGreaterThan(0)
})
