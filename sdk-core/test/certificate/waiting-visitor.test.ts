// A visitor who comes while the site has no certificate waits with it, for a bounded time.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CERTIFICATE_VISITOR_WAIT_MS, SiteCertificate } from '../../src/certificate/site-certificate.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A site whose relay has no certificate for it. */
function siteWithout(current?: object): SiteCertificate {
  return new SiteCertificate({ isNeeded: true, certificates: { current } } as never, {} as never)
}

it('is turned away after CERTIFICATE_VISITOR_WAIT_MS', async () => {
  const settled = vi.fn()
  siteWithout()
    .available()
    .catch(({ code }) => settled(code))
  await vi.advanceTimersByTimeAsync(CERTIFICATE_VISITOR_WAIT_MS - 1)
  expect(settled).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(settled).toHaveBeenCalledWith('certificate_unavailable')
})

it('is served at once where there is a certificate', async () => {
  await siteWithout({}).available()
  expect(vi.getTimerCount()).toBe(0)
})
