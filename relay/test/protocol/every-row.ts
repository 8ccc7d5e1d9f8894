// One test for each row of a section, and what most rows need: a relay with everything switched on.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { PolicyLease, PolicyStateResponse, RegisterResponse } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { UPGRADE_HEADERS } from '../support/api-socket.ts'
import { type Answer, startTestRelay, type TestRelay } from '../support/relay.ts'
import { nativeSession, type TestSession } from '../support/session.ts'
import { ROWS, type Section } from './rows.ts'

export const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'
export const PORTS = 8

type Proof = () => void | Promise<void>

/** The compiler, and at run time the first test, see to it that no row is missing or unknown. */
export function everyRow<S extends Section>(
  section: S,
  proofs: Record<(typeof ROWS)[S][number], Proof>,
): void {
  describe(section, () => {
    const rows: readonly string[] = ROWS[section]
    test(`has ${rows.length} rows, each with its test`, () =>
      expect(Object.keys(proofs).toSorted()).toEqual(rows.toSorted()))
    for (const [row, proof] of Object.entries<Proof>(proofs)) test(row, proof)
  })
}

export interface World extends TestRelay {
  firstPort: number
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** A lease with a name of its own. */
  lease(fields?: Record<string, unknown>): Promise<RegisterResponse>
  policyLease(lease: RegisterResponse): Promise<PolicyLease | undefined>
  decide(lease: RegisterResponse, flags: Record<string, unknown>): Promise<void>
  session(lease: RegisterResponse): Promise<TestSession>
  /** What a visitor of `hostname` meets: the alert that turns them away, or that they are let in. */
  visit(hostname: string): Promise<'let in' | 'turned away'>
}

export async function startWorld(env: Record<string, string> = {}): Promise<World> {
  const firstPort = await freeRange(PORTS)
  const relay = await startTestRelay({
    ADMIN_TOKEN,
    TCP_ENABLED: 'true',
    UDP_ENABLED: 'true',
    MIN_PORT: String(firstPort),
    MAX_PORT: String(firstPort + PORTS - 1),
    ...env,
  })
  /** Whom no session serves waits; everybody else is turned away at once. */
  const waits = async (): Promise<'let in'> => {
    await new Promise((resolve) => setTimeout(resolve, LET_IN_MS))
    for (let i = 0; i < LATER_ANSWERS; i++) await relay.call('GET', '/api/healthz')
    return 'let in'
  }
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const world: World = {
    ...relay,
    firstPort,
    admin: (method, path, body) => relay.call(method, path, body, bearer),
    post: (path, body, headers) => relay.call('POST', path, body, headers),
    lease: (fields) => relay.register(`n-${randomBytes(6).toString('hex')}`, fields),
    policyLease: async (lease) => {
      const answer = await world.admin('GET', '/api/policy/state')
      const { leases } = answer.json.data as unknown as PolicyStateResponse
      return leases.find(({ identity_key }) => identity_key === keyOf(lease))
    },
    decide: async (lease, flags) => {
      const answer = await world.admin('POST', '/api/policy/leases', { identity_key: keyOf(lease), ...flags })
      expect(answer).toMatchObject({ status: 200, json: { ok: true, data: {} } })
    },
    session: (lease) => nativeSession(relay, lease.reverse_endpoint.capability, UPGRADE_HEADERS),
    visit: async (hostname) => {
      const visitor = relay.tls(hostname)
      const turnedAway = once(visitor, 'error').then(() => 'turned away' as const)
      const met = await Promise.race([turnedAway, waits()])
      visitor.destroy()
      return met
    },
  }
  return world
}

const LET_IN_MS = 400
/** Answers to others who came later: on a slow machine, too, those who are turned away know it by then. */
const LATER_ANSWERS = 3

/** Another relay, with other settings, for as long as `work` takes. */
export async function withWorld(
  env: Record<string, string>,
  work: (other: World) => Promise<void>,
): Promise<void> {
  const other = await startWorld(env)
  try {
    await work(other)
  } finally {
    await other.close()
  }
}

export function keyOf({ identity }: RegisterResponse): string {
  return `${identity.name}:${identity.address}`
}

/** The first byte that is no keepalive. */
export async function marker({ read }: TestSession): Promise<number | undefined> {
  for (;;) {
    const [byte] = await read(1)
    if (byte !== 0) return byte
  }
}

export function failsWith(status: number, code: string): object {
  return { status, json: { ok: false, error: { code, message: expect.any(String) } } }
}
