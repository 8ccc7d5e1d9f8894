// A client that names no site: it gets the name of its address.

import { expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

test.each([[''], ['  '], [undefined]])(
  'the name %j is made of the address, and the same each time (protocol §3.1.2)',
  async (name) => {
    const account = newAccount()
    const digits = account.address.slice(2).toLowerCase()
    for (let time = 0; time < 2; time++)
      expect(await relay.register(name as string, { account })).toMatchObject({
        identity: { name: `svc-${digits.slice(0, 8)}` },
        hostname: `svc-${digits.slice(0, 8)}.relay.localhost`,
        canonical_hostname: `svc-${digits.slice(0, 8)}-${digits}.relay.localhost`,
      })
  },
)

test.each([['a.b'], ['-a'], [7], [null]])('the name %j is still none', async (name) => {
  await expect(relay.register(name as string)).rejects.toThrow(/invalid_request/)
})
