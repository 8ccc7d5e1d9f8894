// `GET /sdk/domain` says what the relay's features say of themselves at that moment (specification, DomainResponse).

import type { DomainResponse, EnsStatus, StaticCacheLimits, X402FacilitatorInfo } from '@svc/protocol'
import { afterEach, expect, test } from 'vitest'
import { domain } from '../../../src/core/api/endpoints/response-schemas.ts'
import { createSystem, type System } from '../../model/system.ts'

let system: System
afterEach(() => system.close())

const answerOf = async (features?: () => Promise<Partial<DomainResponse>>) => {
  system = await createSystem(features)
  return async () => domain.parse(JSON.parse(JSON.stringify(await system.sdk.domain())))
}

test('a relay without ENS, payments and static cache says so, and has no cache limits', async () => {
  const ask = await answerOf()
  expect(await ask()).toMatchObject({
    ens: { enabled: false, verified: false, address: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
    x402: { enabled: false, url: '', pay_to: '' },
  })
  expect(await ask()).not.toHaveProperty('cache')
})

test('each feature is asked again for each request', async () => {
  const ens: EnsStatus = {
    enabled: true,
    verified: false,
    provider: 'embedded',
    address: `0x${'12'.repeat(20)}`,
    dnssec_state: 'pending',
    ds_record: 'relay.example. IN DS 1 13 2 ab',
    message: 'the DS record is not published',
    last_error: '',
  }
  const x402: X402FacilitatorInfo = {
    enabled: true,
    url: 'https://relay.example/api/x402',
    network: 'sui:testnet',
    network_name: 'Sui Testnet',
    supported_url: 'https://relay.example/api/x402/supported',
    pay_to: '0x1',
  }
  let cache: StaticCacheLimits | undefined = { max_exposure_bytes: 64 << 20, max_object_size: 10 << 20 }
  const ask = await answerOf(async () => ({ ens, x402, cache }))
  expect(await ask()).toMatchObject({ ens, x402, cache })
  ens.dnssec_state = 'active'
  cache = undefined
  expect(await ask()).toMatchObject({ ens: { dnssec_state: 'active' }, x402 })
  expect(await ask()).not.toHaveProperty('cache')
})
