// Preflights at an exposed site with `access` and rules, whatever else goes around the target.

import type { FetchInfo } from '@svc/sdk-core'
import { openGate } from '@svc/sdk-core/access'
import { Inspector } from '@svc/sdk-core/inspector'
import { expect, it } from 'vitest'
import { handlerOf } from '../../src/expose/handler.ts'
import type { ExposeOptions } from '../../src/expose/options.ts'

const SITE = 'https://site.example'
const info = { canonicalUrl: SITE, waitUntil: () => {} } as unknown as FetchInfo

it.each<[string, number, Partial<ExposeOptions>]>([
  ['alone', 204, {}],
  ['behind an inspector', 204, { inspector: new Inspector() }],
  [
    'behind walletOnly, which lets nobody in from another origin',
    401,
    { walletOnly: { wallets: [`0x${'a'.repeat(40)}`] } },
  ],
])('the rule %s: %i', async (_, status, more) => {
  const rules = { cors: { origins: ['https://app.example'] } }
  const gate = await openGate({ bearer: 'a-token-that-nobody-can-guess' }, undefined)
  const options: ExposeOptions = { relay: SITE, fetch: () => new Response('secret'), rules, ...more }
  const handler = await handlerOf(options, new URL(SITE), fetch, { gate })
  const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' }
  const asked = Object.defineProperty(new Request(SITE, { method: 'OPTIONS' }), 'headers', {
    value: new Headers(headers),
  })
  const answer = await handler(asked, info)
  expect([answer.status, await answer.text()]).toEqual([status, expect.not.stringContaining('secret')])
})
