// The two ends of a datagram tunnel between us and a QUIC implementation that is not ours.

import { deepEqual, equal } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TUNNEL_CLOSE } from '@svc/protocol'
import { publishOn } from '@svc/sdk-core'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { datagramCarrier } from '../../src/datagram/datagram-carrier.ts'
import { nodePlatform } from '../../src/platform.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'
import { echo, UdpVisitor, udpService } from '../support/udp.ts'
import { type FoundPeer, PeerProcess } from './peers.ts'

/** The largest datagram that always passes: a flow id of one byte, and the payload. */
const LARGEST = Buffer.alloc(1149, 0xa5)
const HEARTBEAT = '3000'
/** Application error codes of a close. */
const GOING_AWAY = `${TUNNEL_CLOSE.goingAway}`
const LEASE_ENDED = `${TUNNEL_CLOSE.leaseEnded}`

export type Role = 'client' | 'server'

export const ROLES: Record<Role, (peer: FoundPeer) => Promise<void>> = {
  client: asClient,
  server: asServer,
}

/** The peer stands where the SDK would, as an echo behind our relay. */
async function asClient(found: FoundPeer): Promise<void> {
  await using cleanups = new AsyncDisposableStack()
  const min = await freeRange(10)
  const relay = await startTestRelay({ UDP_ENABLED: 'true', MIN_PORT: `${min}`, MAX_PORT: `${min + 9}` })
  cleanups.defer(() => relay.close())
  const peer = new PeerProcess(found, ['client', `${relay.port}`, relay.caFile])
  cleanups.defer(() => peer.close())

  const { ca } = relay
  const identity = Uint8Array.from(randomBytes(32))
  const site = await publishOn(
    {
      ...nodePlatform({ ca, identity, carrier: 'native' }),
      openDatagrams: async (_relay, { lease }) => {
        peer.say(lease()!.accessToken)
        deepEqual(JSON.parse(await peer.hears('answer')), { ok: true, heartbeat: true })
        equal(await peer.hears('heartbeat'), HEARTBEAT)
        const stats = { received: 0, sent: 0, dropped: {}, flows: 0, tunnels: 1 }
        return { stats, wake: () => {}, close: () => {} }
      },
    },
    { relay: relay.origin, name: 'peer', identity, fetch: () => new Response() },
  )
  cleanups.defer(() => site.close())

  const port = Number(site.udpAddress!.split(':').at(-1))
  for (const payload of ['first', '', LARGEST]) {
    const visitor = new UdpVisitor(port)
    cleanups.defer(() => void visitor.socket.close())
    deepEqual(await visitor.ask(payload), Buffer.from(payload))
  }
  await site.close()
  equal(await peer.hears('closed'), LEASE_ENDED)
}

/** The peer stands where the relay would, and the SDK brings it a local echo. */
async function asServer(found: FoundPeer): Promise<void> {
  await using cleanups = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'quic-interop-'))
  cleanups.defer(() => rm(directory, { recursive: true }))
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  await writeFile(certificate, CERTIFICATE_PEM)
  await writeFile(key, PRIVATE_KEY_PEM)
  const peer = new PeerProcess(found, ['server', certificate, key])
  cleanups.defer(() => peer.close())
  const service = await udpService(echo)
  cleanups.defer(() => service.close())

  const relay = new URL(`https://relay.localhost:${await peer.hears('port')}`)
  const target = { host: '127.0.0.1', port: service.port }
  const open = datagramCarrier(target, { ca: CERTIFICATE_PEM, onError: () => {} })
  const events = {
    lease: () => ({ accessToken: 'token', extensions: new Set<string>(), answer: {} }),
    stale: () => {},
    failed: () => {},
  }
  const datagrams = await open(relay, events, AbortSignal.timeout(20_000))
  cleanups.defer(() => datagrams.close())
  deepEqual(JSON.parse(await peer.hears('hello')), { access_token: 'token', aggregates: true })
  equal(await peer.hears('heartbeat'), HEARTBEAT)

  // flow 1, flow 300 in two bytes, and a payload of none
  for (const datagram of [`01${LARGEST.toString('hex')}`, 'ac02c0ffee', '01']) {
    peer.say(datagram)
    equal(await peer.hears('datagram'), datagram)
  }
  equal(service.clients.size, 2)
  datagrams.close()
  equal(await peer.hears('closed'), GOING_AWAY)
}
