// Machines of one relay that are its name servers, too: the authority finds the record of an order at any of them.

import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { ACME_HOST, serialOf } from '../certificates/acme/acme-relay.ts'
import { type AcmeMachines, startAcmeMachines, whyNoAcmeMachines } from '../support/acme-machines.ts'

const test = wholeOnly(every, 'variant')

const VALIDITY_S = 3_600
const TIMEOUT_MS = 120_000

let relay: AcmeMachines

describe.skipIf(whyNoAcmeMachines() !== undefined)(`two machines (skipped: ${whyNoAcmeMachines()})`, () => {
  beforeAll(async () => {
    const ports = [await freePort(), await freePort()]
    relay = await startAcmeMachines({
      count: 2,
      validityS: VALIDITY_S,
      env: (index) => ({
        ACME_CHALLENGE: 'dns-01',
        ACME_DNS_PROVIDER: 'embedded',
        DNS_ADDR: `127.0.0.1:${ports[index]}`,
        PUBLIC_IPV4: '127.0.0.1',
      }),
      // The authority asks the second machine alone.
      zones: { [ACME_HOST]: `127.0.0.1@${ports[1]}` },
    })
  })
  afterAll(() => relay?.close(), TIMEOUT_MS)

  test('get a wildcard by the order of one, whose records the other one has', async () => {
    const [first, second] = relay.machines
    // The first one has begun to order, and waits for the authority.
    relay.directory.release()
    await expect
      .poll(() => first!.log.map(({ msg }) => msg), { timeout: TIMEOUT_MS / 2 })
      .toContain('the relay has its first certificate')
    await expect
      .poll(() => second!.log.map(({ msg }) => msg), { timeout: TIMEOUT_MS / 2 })
      .toContain('the relay uses the certificate that another machine has got')
    expect(await serialOf(first!.port)).toBe(await serialOf(second!.port))
  })
})
