// `publish` in Node, against a relay with a private CA and a name under localhost.

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { publish } from '../../src/index.ts'

let folder: string
let relay: RelayDouble
const options = () => ({
  relay: relay.url,
  name: 'demo',
  fetch: () => new Response('hello'),
  identityPath: join(folder, 'identity.json'),
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-publish-'))
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await relay.crash()
  await rm(folder, { recursive: true })
})

it.each([
  ['text', CERTIFICATE_PEM],
  ['bytes', Buffer.from(CERTIFICATE_PEM)],
])('finds *.localhost, trusts the given CA as %s, and keeps its identity in the file', async (_, ca) => {
  const site = await publish({ ...options(), ca })
  expect(site.state).toBe('online')
  expect((await stat(join(folder, 'identity.json'))).mode & 0o777).toBe(0o600)
  const { canonicalUrl } = site
  await site.close()
  const again = await publish({ ...options(), ca })
  expect(again.canonicalUrl).toBe(canonicalUrl)
  await again.close()
})

it('does not trust a relay whose CA it was not given', async () => {
  await expect(publish(options())).rejects.toMatchObject({
    code: 'relay_unreachable',
    cause: expect.objectContaining({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
  })
})

it('refuses an invalid carrier', async () => {
  await expect(publish({ ...options(), carrier: 'pigeon' as never })).rejects.toMatchObject({
    code: 'invalid_option',
  })
})

it('refuses the name of an identity, which only a page keeps', async () => {
  const named = publish({ ...options(), ca: CERTIFICATE_PEM, identity: 'mine' })
  await expect(named).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('identityPath names a file'),
  })
  await expect(stat(join(folder, 'identity.json'))).rejects.toMatchObject({ code: 'ENOENT' })
})

it('needs no file when it is given an identity', async () => {
  const site = await publish({ ...options(), ca: CERTIFICATE_PEM, identity: new Uint8Array(32).fill(1) })
  await site.close()
  await expect(stat(join(folder, 'identity.json'))).rejects.toMatchObject({ code: 'ENOENT' })
})
