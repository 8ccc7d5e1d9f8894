// Relays of one machine that know each other by discovery, and are linked by loopback addresses as their overlay.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiscoveryResponse } from '@svc/protocol'
import { vi } from 'vitest'
import { trust } from './local-names.ts'
import { freePort, ROOT_HOST, startTestRelay, type TestRelay } from './relay.ts'

export interface OverlayRelay extends TestRelay {
  /** Its address on the overlay. */
  address: string
}

const PATIENT = { timeout: 60_000, interval: 100 }

/**
 * Resolves when all relays know each other. The caller's tests have names below localhost resolved, and short intervals of discovery.
 * @param network the first three numbers of the overlay's addresses, which no other test file has
 */
export async function startOverlayRelays(
  count: number,
  network: string,
  env: (at: number) => Record<string, string> = () => ({}),
): Promise<{ relays: OverlayRelay[]; port: number; close: () => Promise<void> }> {
  const port = await freePort()
  const places = await Promise.all(
    Array.from({ length: count }, async (_, at) => ({
      sniPort: await freePort(),
      address: `${network}.${at + 1}`,
      directory: await mkdtemp(join(tmpdir(), 'svc-overlay-')),
    })),
  )
  const originOf = ({ sniPort }: (typeof places)[number]): string => `https://${ROOT_HOST}:${sniPort}`
  const relays: OverlayRelay[] = []
  for (const [at, place] of places.entries()) {
    const { address, directory, sniPort } = place
    const others = places.filter((other) => other !== place)
    const peers = Object.fromEntries(others.map((other) => [originOf(other), other.address]))
    const configFile = join(directory, 'overlay.json')
    await writeFile(configFile, JSON.stringify({ network: `${network}.0/24`, address, port, peers }))
    const settings = {
      SVC_URL: originOf(place),
      SNI_PORT: `${sniPort}`,
      DISCOVERY: 'true',
      DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
      BOOTSTRAPS: others.map(originOf).join(','),
      OVERLAY_CONFIG: configFile,
      ...env(at),
    }
    relays.push({ ...(await startTestRelay(settings, { directory })), address })
  }
  // They ask each other again soon.
  const distrust = trust(relays.map(({ ca }) => ca))
  const knows = async (relay: TestRelay): Promise<number> => {
    const { json } = await relay.call('GET', '/discovery')
    return (json.data as unknown as DiscoveryResponse).relays.length
  }
  for (const relay of relays)
    await vi.waitFor(async () => {
      if ((await knows(relay)) !== count) throw new Error('the relays do not know each other yet')
    }, PATIENT)
  return {
    relays,
    port,
    close: async () => {
      await Promise.all(relays.map((relay) => relay.stop()))
      distrust()
      for (const { directory } of places) await rm(directory, { recursive: true })
    },
  }
}
