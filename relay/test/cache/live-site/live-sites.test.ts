// Requests at a canonical hostname that go on to the live site: real relays, sites of the SDK, and curl.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import { AWAY, publishSite, type SdkSite } from '../../support/live-sites.ts'
import { useLiveRelay } from '../../support/use-live-relay.ts'

const live = useLiveRelay()

let published = 0
let site: SdkSite
/** @returns the URL at the canonical hostname, without a slash at its end */
async function publish(
  fetch: Parameters<typeof publishSite>[2]['fetch'],
  options: Partial<Parameters<typeof publishSite>[2]> = {},
): Promise<string> {
  published += 1
  const name = `live${published}`
  site = live.closeLater(await publishSite(live.relay, name, { fetch, ...options }))
  return canonicalUrlOf(name)
}

function canonicalUrlOf(name: string): string {
  const lease = [...live.relay.parts.state.leases].find(({ identity }) => identity.name === name)
  return `https://${lease?.canonicalHostname}:${live.relay.port}`
}

const text = async (...args: string[]): Promise<string> => (await curl(live.relay.caFile, ...args)).toString()

describe.each([
  ['HTTP/1.1', '--http1.1'],
  ['HTTP/2', '--http2'],
])('over %s', (_version, version) => {
  test.each(['own', 'shared'] as const)(
    'GET reaches a site with a certificate that is %s',
    async (certificate) => {
      const url = await publish(({ url, method }) => new Response(`${method} ${url}`), { certificate })
      expect(await text(version, `${url}/a/b?c=d`)).toBe(`GET ${url}/a/b?c=d`)
    },
  )

  test('a body is passed on whole, with its length', async () => {
    const url = await publish(async (request) =>
      Response.json({ length: request.headers.get('content-length'), text: await request.text() }),
    )
    const answer = await text(version, '--data-raw', 'a=b', `${url}/form`)
    expect(JSON.parse(answer)).toEqual({ length: '3', text: 'a=b' })
  })

  test('an upload of unknown length is streamed', async () => {
    const url = await publish(async (request) => new Response(`${(await request.arrayBuffer()).byteLength}`))
    const file = join(live.relay.parts.settings.identityPath, 'upload')
    await writeFile(file, Buffer.alloc(3_000_000))
    expect(await text(version, '-H', 'Transfer-Encoding: chunked', '-T', file, `${url}/`)).toBe('3000000')
    expect(await text(version, '-H', 'Expect: 100-continue', '-T', file, `${url}/`)).toBe('3000000')
  })
})

test('protocol §9.4.1: the site gets the address of the visitor, not the relay’s own', async () => {
  const url = await publish((_request, { remote }) => Response.json(remote ?? null), { visitorAddress: true })
  for (const address of ['127.0.0.2', '127.0.0.9'])
    expect(JSON.parse(await text('-H', `X-Test-Address: ${address}`, `${url}/`))).toMatchObject({
      address,
      port: 0,
      reportedBy: 'relay',
      traceId: expect.stringMatching(/^[\da-f]{32}$/),
    })
})

test('a site that did not ask gets none', async () => {
  const url = await publish((_request, { remote }) => Response.json(remote ?? null))
  expect(JSON.parse(await text(`${url}/`))).toBeNull()
})

test('a site that is away is said to be away', async () => {
  const url = await publish(() => new Response('here'))
  await site.close()
  expect(await text(`${url}/`)).toBe(AWAY)
})
