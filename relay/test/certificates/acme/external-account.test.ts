// An authority that only accepts accounts of its customers (RFC 8555 §7.3.4): pebble, which requires the binding.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { checkCertificate } from '../../../src/cli/check/certificate.ts'
import { readSettings } from '../../../src/settings.ts'
import {
  ACME_HOST,
  acmeEnv,
  firstAnswer,
  freePort,
  newDirectory,
  startAcmeRelay,
  waitFor,
} from './acme-relay.ts'

const KEY_ID = 'customer-1'
const HMAC = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'

describe.skipIf(!hasAcmeServer())('an authority with external accounts', () => {
  let acme: AcmeServer
  let port: number
  beforeAll(async () => {
    port = await freePort()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ACME_HOST], externalAccounts: { [KEY_ID]: HMAC } })
  })
  afterAll(() => acme?.close())

  const check = async (directory: string, env: Record<string, string> = {}): Promise<string> => {
    const found = await checkCertificate(readSettings({ ...acmeEnv(acme, port, directory), ...env }))
    return found.map(({ status, message }) => `${status}: ${message}`).join('\n')
  }

  test('refuses a relay without a binding, whose log and check say what to set', async () => {
    const { directory, remove } = await newDirectory()
    const why = 'ACME_EAB_KID and ACME_EAB_HMAC are what it gave you for one'
    expect(await check(directory)).toMatch(
      new RegExp(`^warning: localhost:\\d+ only accepts accounts.*${why}\\.$`),
    )
    const relay = await startAcmeRelay(acme, port, directory)
    await waitFor(() => relay.log.some((line) => JSON.stringify(line).includes(why)))
    await relay.close()
    await remove()
  })

  test('issues to a relay with one, and check tells the truth before and after', async () => {
    const { directory, remove } = await newDirectory()
    const env = { ACME_EAB_KID: KEY_ID, ACME_EAB_HMAC: HMAC }
    expect(await check(directory, env)).toContain('binds its account at localhost')
    const relay = await startAcmeRelay(acme, port, directory, env)
    await firstAnswer(port)
    expect(JSON.stringify(relay.log)).not.toContain(HMAC)
    await relay.close()
    // The account is bound already.
    for (const later of [env, {}]) expect(await check(directory, later)).not.toMatch(/warning|binds/)
    await remove()
  })

  test('refuses one with the key of another', async () => {
    const { directory, remove } = await newDirectory()
    const env = { ACME_EAB_KID: KEY_ID, ACME_EAB_HMAC: Buffer.alloc(32, 7).toString('base64') }
    const relay = await startAcmeRelay(acme, port, directory, env)
    await waitFor(() =>
      relay.log.some((line) => /does not issue|external account/i.test(JSON.stringify(line))),
    )
    await relay.close()
    await remove()
  })
})

test.each([
  [{ ACME_EAB_KID: 'a' }, /^ACME_EAB_HMAC: .* must both be set/],
  [{ ACME_EAB_HMAC: HMAC }, /^ACME_EAB_KID: .* must both be set/],
  [
    { ACME_EAB_KID: 'a', ACME_EAB_HMAC: 'not base64!' },
    /^ACME_EAB_HMAC: is no key in base64(?!.*not base64)/,
  ],
  [{ ACME_EAB_KID: 'a', ACME_EAB_HMAC: 'c2hvcnQ' }, /^ACME_EAB_HMAC: is no key in base64/],
  [{ ACME_EAB_KID: 'a b', ACME_EAB_HMAC: HMAC }, /^ACME_EAB_KID: has characters/],
])('%j is refused', (env, message) => {
  expect(() => readSettings({ SVC_URL: 'https://relay.example', ...env })).toThrow(message)
})
