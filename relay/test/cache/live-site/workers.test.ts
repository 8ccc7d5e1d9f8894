// SVC_WORKERS=2: a site whose sessions are all in a worker process is reached by the primary process, which has the cache.

import { test as every, expect } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { publishSite, type SdkSite, startLiveRelay } from '../../support/live-sites.ts'

const test = wholeOnly(every, 'variant')

const relay = useStarted(() => startLiveRelay({ env: { SVC_WORKERS: '2' }, onlyInWorkers: true }))

test.each(['own', 'shared'] as const)('with a certificate that is %s', async (certificate) => {
  const name = `far-${certificate}`
  const site: SdkSite = await publishSite(relay, name, {
    certificate,
    fetch: async (request) => new Response(`${request.method} ${await request.text()}`),
  })
  const lease = [...relay.parts.state.leases].find(({ identity }) => identity.name === name)
  const url = `https://${lease?.canonicalHostname}:${relay.port}/`
  for (let i = 0; i < 4; i++) expect(String(await curl(relay.caFile, url))).toBe('GET ')
  expect(String(await curl(relay.caFile, '--data', 'a'.repeat(100_000), url))).toBe(
    `POST ${'a'.repeat(100_000)}`,
  )
  await site.close()
  expect(String(await curl(relay.caFile, url))).toBe('the site is away')
})
