// A relay whose clock jumps makes a site spend nothing at its authority.

import { expect, it } from 'vitest'
import type { AcmeAuthority } from '../../src/domains/authority.ts'
import { CertificateOfDomain } from '../../src/domains/certificate-of-domain.ts'
import { memoryStore } from '../support/domain-store.ts'

const MONTH_MS = 30 * 86_400_000

it('orders at most 4 times in a day, whatever day the relay says it is', async () => {
  let orders = 0
  const authority = {
    host: 'acme.test',
    alone: (task: () => Promise<unknown>) => task(),
    waitMs: () => 0,
    order: async () => {
      orders += 1
      throw new Error('not today')
    },
  }
  let now = Date.now()
  const certificate = new CertificateOfDomain('shop.example.org', {
    authority: authority as unknown as AcmeAuthority,
    store: memoryStore(),
    crypto: undefined,
    changed: () => {},
    now: () => now,
    onError: () => {},
  })
  for (let month = 0; month < 12; month++) {
    now += MONTH_MS
    await certificate.check(true, now, new AbortController().signal)
  }
  expect(orders).toBe(4)
  expect(certificate.state(now).error).toContain('at most 4 orders for this domain in 24 hours')
})
