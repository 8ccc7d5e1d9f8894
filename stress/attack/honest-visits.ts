// The visits of honest visitors and publishers at a relay: requests on new and on kept connections, with Node and with curl, to
// a site, to the relay's own pages and its API; raw TCP, UDP, renewals and registrations.
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { PATH, type RegisterResponse, type RenewResponse } from '@svc/protocol'
import { curl } from '../../tools/programs/curl.ts'
import { dataOf, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { type Visitor, visitorOf } from '../../tools/site/node-site.ts'
import { askOnce, requireBytes } from '../honest-visitor.ts'
import { HELLO } from './honest-site.ts'
import type { Visit } from './honest-visitors.ts'
import type { Target } from './target.ts'

/** A client over UDP asks again after this: datagrams may be lost. */
const UDP_RETRY_MS = 500
/** Enough that a request hardly ever waits for the one before it. */
const KEPT_CONNECTIONS = 6
/** Often enough to be measured in seconds, and no flood. */
const EVERY_MS = {
  kept: 250,
  new: 250,
  curl: 1000,
  pages: 250,
  api: 200,
  renew: 250,
  register: 1000,
  tcp: 250,
  udp: 250,
} as const

export interface HonestVisits {
  visits: Visit[]
  close(): void
}

/** @param caFile the target's authority, for curl */
export async function honestVisits(target: Target, siteUrl: string, caFile: string): Promise<HonestVisits> {
  const site = { url: siteUrl }
  const root = { url: target.url }
  const keptSite = new KeptVisitors(() => visitorOf(site, target, 1))
  const keptApi = new KeptVisitors(() => visitorOf(root, target, 1))
  await keptSite.connect('/')
  await keptApi.connect(PATH.domain)
  const api = new RelayApi(target.url, target.ca, 1)
  const newcomers = new RelayApi(target.url, target.ca, 1)
  const lease = await api.register(newIdentity(), 'renewing')
  const visit = (kind: keyof typeof EVERY_MS, make: Visit['make']): Visit => ({
    kind,
    everyMs: EVERY_MS[kind],
    make,
  })
  return {
    visits: [
      visit('kept', async () => requireHello(await keptSite.get('/'))),
      visit('new', async () => requireHello(await askOnce(visitorOf(site, target), '/'))),
      visit('curl', async () => requireHello(await curl(caFile, siteUrl))),
      visit('pages', async () => requireHello(await askOnce(visitorOf(root, target), '/'))),
      visit('api', async () => void (await keptApi.get(PATH.domain))),
      visit('renew', renewing(api, lease)),
      visit('register', () => comeAndGo(newcomers)),
      visit('tcp', () => echoOverTcp(target.tcpPort)),
      visit('udp', (patienceMs) => echoOverUdp(target.udpPort, patienceMs / UDP_RETRY_MS)),
    ],
    close: () => {
      keptSite.close()
      keptApi.close()
      api.close()
      newcomers.close()
    },
  }
}

/** Kept connections, used by turns: one is made again only when it broke. */
class KeptVisitors {
  readonly #visitors: readonly Visitor[]
  #next = 0

  constructor(open: () => Visitor) {
    this.#visitors = Array.from({ length: KEPT_CONNECTIONS }, open)
  }

  get(path: string): Promise<Buffer> {
    this.#next += 1
    return this.#visitors[this.#next % KEPT_CONNECTIONS]!.get(path)
  }

  /** Connects all of them, one after the other. */
  async connect(path: string): Promise<void> {
    for (const visitor of this.#visitors) await visitor.get(path)
  }

  close(): void {
    for (const visitor of this.#visitors) visitor.close()
  }
}

function requireHello(answer: Buffer): void {
  requireBytes(answer, Buffer.from(HELLO))
}

function renewing(api: RelayApi, lease: RegisterResponse): () => Promise<void> {
  let token = lease.access_token
  return async () => {
    const answer = await api.post(PATH.renew, { access_token: token, ttl: 600 })
    token = dataOf<RenewResponse>(answer).access_token
  }
}

/** A publisher of a moment. */
async function comeAndGo(api: RelayApi): Promise<void> {
  const { access_token } = await api.register(newIdentity(), `honest-${randomBytes(6).toString('hex')}`)
  dataOf(await api.post(PATH.unregister, { access_token }))
}

async function echoOverTcp(port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    socket.on('error', () => {})
    socket.write(HELLO)
    const [answer] = await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => Promise.reject(new Error('closed without an answer'))),
    ])
    requireHello(answer)
  } finally {
    socket.destroy()
  }
}

async function echoOverUdp(port: number, attempts: number): Promise<void> {
  const socket = createSocket('udp4')
  try {
    const answered = once(socket, 'message')
    for (let attempt = 0; attempt < attempts; attempt++) {
      socket.send(HELLO, port, '127.0.0.1')
      const answer = await Promise.race([answered, pause(UDP_RETRY_MS)])
      if (Array.isArray(answer)) return requireHello(answer[0])
    }
    throw new Error(`no answer to ${attempts} datagrams`)
  } finally {
    socket.close()
  }
}
