// Relays of this process that know each other and share an overlay, on addresses of the loopback network. A file that uses it
// replaces `node:dns`'s lookup by `lookupLocal`.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { trust } from './local-names.ts'
import {
  freePort,
  relayClient,
  startTestRelay,
  type TestClient,
  type TestLimits,
  type TestRelay,
} from './relay.ts'

const PATIENT_MS = 60_000

export interface OverlayMember extends TestClient {
  host: string
  /** Address of its overlay server. */
  overlayAddress: string
  overlayPort: number
  directory: string
  start(): Promise<void>
  stop(): Promise<void>
}

export interface OverlayRelays {
  members: OverlayMember[]
  /** The authorities of all, PEM. */
  ca: string
  /** Resolves when each of the members is known to each other one. */
  known(): Promise<void>
  close(): Promise<void>
}

/**
 * @param network the second and third number of the overlay's addresses, so that files have their own
 * @param hosts names below `localhost`; relays of one name have different ports
 * @param env more settings, of all relays or of that at an index
 * @param limits of all relays, which ask each other every second by default
 */
export async function startOverlayRelays(
  network: string,
  hosts: readonly string[],
  env: Record<string, string> | ((index: number) => Record<string, string>) = {},
  limits: TestLimits = {},
): Promise<OverlayRelays> {
  const all = { ...limits, discovery: { pollMs: 1_000, ...limits.discovery } }
  const members: OverlayMember[] = []
  const running = new Map<string, TestRelay>()
  for (const [index, host] of hosts.entries()) {
    const [port, overlayPort] = [await freePort(), await freePort()]
    const directory = await mkdtemp(join(tmpdir(), 'svc-overlay-'))
    // The first start makes the authority.
    const first = await startTestRelay(
      { SVC_URL: `https://${host}:${port}`, SNI_PORT: `${port}` },
      { directory },
    )
    await first.stop()
    const overlayAddress = `127.${network}.${index + 1}`
    const client = relayClient(port, await readFile(join(directory, 'ca.pem'), 'utf8'), host)
    const start = async (): Promise<void> => {
      const settings = {
        SVC_URL: client.origin,
        SNI_PORT: `${port}`,
        DISCOVERY: 'true',
        DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
        BOOTSTRAPS: members.flatMap(({ origin }) => (origin === client.origin ? [] : [origin])).join(),
        OVERLAY_CONFIG: join(directory, 'overlay.json'),
        ...(typeof env === 'function' ? env(index) : env),
      }
      running.set(client.origin, await startTestRelay(settings, { directory, limits: all }))
    }
    const stop = async (): Promise<void> => {
      await running.get(client.origin)?.stop()
      running.delete(client.origin)
    }
    members.push({ ...client, host, overlayAddress, overlayPort, directory, start, stop })
  }
  for (const { origin, directory, overlayAddress: address, overlayPort: port } of members) {
    const others = members.filter((other) => other.origin !== origin)
    const peers = Object.fromEntries(
      others.map((other) => [other.origin, `${other.overlayAddress}:${other.overlayPort}`]),
    )
    const config = { network: `127.${network}.0/24`, address, port, peers }
    await writeFile(join(directory, 'overlay.json'), JSON.stringify(config))
  }
  const ca = members.map(({ ca }) => ca).join('\n')
  const distrust = trust(members.map(({ ca }) => ca))
  const known = async (): Promise<void> => {
    const counts = async (): Promise<number[]> =>
      await Promise.all(
        members.map(async ({ call }) => {
          const { json } = await call('GET', '/discovery')
          return (json.data as unknown as { relays: unknown[] }).relays.length
        }),
      )
    const all = members.map(() => members.length)
    await vi.waitFor(async () => expect(await counts()).toEqual(all), { timeout: PATIENT_MS, interval: 50 })
  }
  const close = async (): Promise<void> => {
    distrust()
    for (const { directory, stop } of members) {
      await stop()
      await rm(directory, { recursive: true })
    }
  }
  for (const { start } of members) await start()
  return { members, ca, known, close }
}
