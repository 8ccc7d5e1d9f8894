// Where the requests of ACME may go, whatever the authority answers.

import { expect, it } from 'vitest'
import { AcmeClient } from '../../src/acme/client.ts'
import { orderCertificate } from '../../src/acme/order.ts'
import { createWebCryptoKey, siteKeyOf } from '../../src/certificate/web-crypto-key.ts'

const DIRECTORY = 'https://acme.test/directory'
const NAMES = { newNonce: '/nonce', newAccount: '/account', newOrder: '/order' }
const directory = Object.fromEntries(
  Object.entries(NAMES).map(([name, path]) => [name, `https://acme.test${path}`]),
)

it.each<[string, object, string]>([
  ['an authorization', { authorizations: ['http://acme.test/authz'] }, 'https://acme.test/order/1'],
  ['the order', { authorizations: [] }, 'http://acme.test/order/1'],
])('a signed request never goes to %s without TLS', async (_what, order, location) => {
  const key = siteKeyOf(await createWebCryptoKey())
  const asked: string[] = []
  const client = new AcmeClient(DIRECTORY, key, async (url) => {
    asked.push(url)
    const headers = { 'Replay-Nonce': 'nonce', ...(url.endsWith('/order') && { Location: location }) }
    return Response.json(url === DIRECTORY ? directory : order, { headers })
  })
  client.account = 'https://acme.test/account/1'
  const { signal } = new AbortController()
  const request = { domain: 'shop.example.org', key, replaces: undefined, show: async () => {}, signal }
  const ordered = orderCertificate(client, await client.directory(signal), {
    ...request,
    validated: () => {},
  })
  await expect(ordered).rejects.toThrow('no https URL')
  expect(asked.filter((url) => !url.startsWith('https:'))).toEqual([])
})
