// Servers on providers of both kinds, because what holds for one must hold for the other; and what they all must do.

import { expect } from 'vitest'
import type { ServerConfig } from '../../src/index.ts'
import { makeIdentity } from './certificates.ts'
import type { RawClient } from './raw-client.ts'
import { syncCrypto } from './sync-crypto.ts'

const config: ServerConfig = { ...makeIdentity('ec').config, alpn: [] }

export const PROVIDERS: [name: string, config: ServerConfig][] = [
  ['WebCrypto', config],
  ['a synchronous provider', { ...config, crypto: syncCrypto }],
]

/** The connection ends with this one alert, which is also the error's. */
export async function expectAlert(client: RawClient, alert: number): Promise<void> {
  await client.over()
  expect([client.alerts, client.error?.alert]).toEqual([[alert], alert])
}
