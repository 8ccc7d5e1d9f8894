// Registrations and renewals per second of a real relay, beside the cryptography that they cannot do without.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AUDIENCE, CHALLENGES_PER_SOURCE_MAX, PATH, type RegisterResponse } from '@svc/protocol'
import { recoverSigner } from '../../relay/src/core/auth/ethereum-signature.ts'
import { loadIdentity } from '../../relay/src/core/auth/relay-identity.ts'
import { TokenIssuer } from '../../relay/src/core/auth/token-issuer.ts'
import { Lease } from '../../relay/src/core/lease/lease.ts'
import { dataOf, newIdentity, proofOf, RelayApi } from '../../tools/relay/api-client.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { alternate } from '../lib/alternate.ts'
import { wallSeconds } from '../lib/clock.ts'
import { compared, type Entry } from '../lib/entry.ts'

/** Registrations, as many as may be open at once: they are signed before the clock starts. */
const REGISTRATIONS: number = CHALLENGES_PER_SOURCE_MAX
const RENEWALS_EACH = 4
const SOCKETS = 8
const TARGET = 0.5

export async function* registrations(runs: number): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const api = new RelayApi(relay.url, await relay.ca(), SOCKETS)
  const clients = Array.from({ length: REGISTRATIONS }, (_, number) => ({
    identity: newIdentity(),
    name: `site-${number}`,
  }))
  let leases: RegisterResponse[] = []
  const register = async (): Promise<number> => {
    const challenges = await Promise.all(clients.map(({ identity, name }) => api.challenge(identity, name)))
    const proofs = challenges.map((challenge, index) => proofOf(clients[index]!.identity, challenge))
    const seconds = await wallSeconds(async () => {
      leases = await Promise.all(proofs.map(async (proof) => dataOf(await api.post(PATH.register, proof))))
    })
    return REGISTRATIONS / seconds
  }
  const renew = async (): Promise<number> => {
    const tokens = leases.flatMap(({ access_token }) => Array(RENEWALS_EACH).fill(access_token))
    const one = async (access_token: string): Promise<void> =>
      dataOf(await api.post(PATH.renew, { access_token, ttl: 600 }))
    return tokens.length / (await wallSeconds(() => Promise.all(tokens.map(one))))
  }
  const question = { unit: 'per s', better: 'more', target: TARGET } as const
  const registered = await alternate(runs, { ours: register, theirs: recoveriesPerSecond })
  yield compared(
    { ...question, name: 'registrations', peer: 'recovering signers, nothing else' },
    registered.ours,
    registered.theirs,
  )
  const tokens = await createTokens()
  const renewed = await alternate(runs, { ours: renew, theirs: () => tokens.perSecond() })
  yield compared(
    { ...question, name: 'renewals', peer: 'a token checked and two signed, nothing else' },
    renewed.ours,
    renewed.theirs,
  )
  await tokens.remove()
  api.close()
  await relay.stop()
}

async function recoveriesPerSecond(): Promise<number> {
  const message = 'a message'
  const signature = newIdentity().personalSign(message)
  const seconds = await wallSeconds(async () => {
    for (let i = 0; i < REGISTRATIONS; i++) recoverSigner(message, signature)
  })
  return REGISTRATIONS / seconds
}

async function createTokens(): Promise<{ perSecond(): Promise<number>; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-tokens-'))
  const tokens = new TokenIssuer(await loadIdentity(directory), 'https://relay.example')
  const lease = new Lease({
    identity: { name: 'demo', address: `0x${'ab'.repeat(20)}` },
    hostname: '',
    canonicalHostname: '',
    metadata: {},
    ttlS: 600,
    firstSeenAt: 0,
    clientIp: '192.0.2.1',
    reportedIp: undefined,
  })
  const count = REGISTRATIONS * RENEWALS_EACH
  const renew = (token: string): string => {
    tokens.verify(token, 'lease')
    tokens.issue(lease, AUDIENCE.reverse)
    return tokens.issue(lease, AUDIENCE.lease)
  }
  const perSecond = async (): Promise<number> => {
    let token = tokens.issue(lease, AUDIENCE.lease)
    const seconds = await wallSeconds(() => {
      for (let i = 0; i < count; i++) token = renew(token)
    })
    return count / seconds
  }
  return { perSecond, remove: () => rm(directory, { recursive: true }) }
}
