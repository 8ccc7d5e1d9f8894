// A new relay with discovery: it announces itself when it has its first certificate, by which others know it, and not before.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { WAIT_TIMEOUT_MS } from '../../../../tools/test-timeouts.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { trust } from '../../support/local-names.ts'
import { ACME_HOST, type AcmeRelay, freePort, newDirectory, startAcmeRelay, statusOf } from './acme-relay.ts'

const ca = createCa('localhost')
const leaf = createLeaf(ca, 'localhost', ['localhost'])

describe.skipIf(!hasAcmeServer())('a new relay', () => {
  let acme: AcmeServer
  let port: number
  let relay: AcmeRelay | undefined
  let state: Awaited<ReturnType<typeof newDirectory>>
  beforeEach(async () => {
    port = await freePort()
    acme = await startAcmeServer({ hosts: [ACME_HOST], tlsPort: port })
    state = await newDirectory()
  })
  afterEach(async () => {
    await relay?.close()
    await acme.close()
    await state.remove()
  })

  test('asks its bootstrap relay when it has a certificate, at once', {
    timeout: 2 * WAIT_TIMEOUT_MS,
  }, async () => {
    const root = await acme.root()
    const seen: (number | string)[] = []
    const bootstrap = createServer({ cert: leaf.chain, key: leaf.key }, async (_request, response) => {
      // As the bootstrap relay does with one that announces itself.
      seen.push(await statusOf(port, root).catch(({ code }) => code))
      response.end()
    })
    await once(bootstrap.listen(0, '127.0.0.1'), 'listening')
    const origin = `https://localhost:${(bootstrap.address() as AddressInfo).port}`
    const distrust = trust([ca.certificate])
    relay = await startAcmeRelay(acme, port, state.directory, { DISCOVERY: 'true', BOOTSTRAPS: origin })
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(0), WAIT_TIMEOUT_MS)
    distrust()
    bootstrap.closeAllConnections()
    bootstrap.close()
    expect(seen[0]).toBe(200)
  })
})
