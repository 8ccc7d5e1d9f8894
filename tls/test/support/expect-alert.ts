// How a connection ends that the client of TLS 1.2 has spoilt.

import { expect } from 'vitest'
import type { RawClient12 } from './tls12-raw-client.ts'

const FATAL = 2

/** The connection ends with this one alert, which is also the error's. */
export async function expectAlert(client: RawClient12, alert: number): Promise<void> {
  await client.over()
  expect([client.alerts, client.error?.alert]).toEqual([[[FATAL, alert]], alert])
}
