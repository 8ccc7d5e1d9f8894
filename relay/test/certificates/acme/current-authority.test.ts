// What a current authority asks of its clients: pebble from the Go module proxy, where `npm run interop -- acme` has built it.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AcmeServer,
  hasAcmeServer,
  hasCurrentPebble,
  startAcmeServer,
} from '../../../../tools/programs/pebble.ts'
import { HttpClient } from '../../../src/core/outbound/http-client.ts'
import { followCaaIdentities } from '../../../src/features/acme/caa-identities.ts'
import { renewalTimeOf, usualRenewalTime } from '../../../src/features/acme/renewal.ts'
import { readRoots } from '../../../src/features/acme/roots.ts'
import { AcmeTransport } from '../../../src/features/acme/transport.ts'
import { readSettings } from '../../../src/index.ts'
import {
  ACME_HOST,
  type AcmeRelay,
  acmeEnv,
  firstAnswer,
  freePort,
  newDirectory,
  startAcmeRelay,
  waitFor,
} from './acme-relay.ts'

describe.skipIf(!hasCurrentPebble() || !hasAcmeServer())('a current authority', () => {
  let acme: AcmeServer
  let relay: AcmeRelay
  let state: Awaited<ReturnType<typeof newDirectory>>
  beforeAll(async () => {
    const port = await freePort()
    state = await newDirectory()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ACME_HOST] })
    relay = await startAcmeRelay(acme, port, state.directory)
    await firstAnswer(port)
  })
  afterAll(async () => {
    await relay?.close()
    await acme?.close()
    await state.remove()
  })

  test('answers nobody who does not say what it is', async () => {
    const client = new HttpClient({
      ca: await readFile(acme.caFile, 'utf8'),
      configuredOrigins: [new URL(acme.directoryUrl).origin],
    })
    const { status } = await client.request(acme.directoryUrl, { isConfigured: true })
    expect(status).toBe(400)
  })

  test('says what CAA records call it', async () => {
    const { acme: settings } = readSettings(acmeEnv(acme, relay.port, state.directory))
    const found: (readonly string[])[] = []
    const failures: string[] = []
    const following = await followCaaIdentities({
      acme: settings,
      found: async (identities) => void found.push(identities),
      failed: ({ message }) => void failures.push(message),
    })
    await waitFor(() => found.length + failures.length > 0)
    await following.close()
    expect([found, failures]).toEqual([[expect.any(Array)], []])
  })

  test('says when to renew, and is believed', async () => {
    const chain = await readFile(join(state.directory, 'fullchain.pem'), 'utf8')
    const transport = new AcmeTransport(acme.directoryUrl, await readRoots(acme.caFile))
    const { signal } = new AbortController()
    const { renewalInfo } = await transport.getJson(acme.directoryUrl, signal)
    expect(renewalInfo).toEqual(expect.any(String))
    const leaf = new X509Certificate(chain)
    const time = await renewalTimeOf(chain, acme.directoryUrl, transport, signal)
    expect(time).toBeGreaterThan(leaf.validFromDate.getTime())
    expect(time).toBeLessThan(usualRenewalTime(leaf))
    const said = relay.log.filter(({ msg }) => /does not say when to renew/.test(`${msg}`))
    expect(said).toEqual([])
  })
})
