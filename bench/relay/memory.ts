// Measures what idle clients cost a relay, in memory: native sessions that are ready, and visitors who were answered once.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { MARKER, RAW_UPGRADE, type RegisterResponse } from '@svc/protocol'
import { dial } from '../../sdk-node/src/carrier/dial.ts'
import { localhostLookup } from '../../sdk-node/src/net/localhost-lookup.ts'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { COLLECT_EVERY, grownKb, memoryOf, PROBED } from '../carrier/relay-memory.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { dedicatedPorts } from '../node/tunnels.ts'
import { recordClientHello } from '../tls/client-hello.ts'

const LEASES = 60
/** Sessions, as many as may be ready. */
const SESSIONS = 8
const TCP_VISITORS = 400
/** Clients that come before the measurement: the code and buffers that the first ones cause stay. */
const FIRST = 20
const IDLE_MAX_KB = 55
const WAIT_MAX_MS = 10_000
const ANSWER = '.'

export async function* memory(): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ execArgv: PROBED, env: await dedicatedPorts() })
  const site = await Site.of(relay)
  const tcp = await site.register('tcp', true)
  for (let came = 0; came < FIRST; came++) await site.visitPort(tcp)
  const first = await site.register('first', false)
  await site.offer(first)
  await site.visit(first)
  const leases: RegisterResponse[] = []
  for (let i = 0; i < LEASES; i++) leases.push(await site.register(`idle-${i}`, false))
  const each = leases.flatMap((lease) => Array.from({ length: SESSIONS }, () => lease))

  const ready = await grownBy(relay, each, (lease) => site.offer(lease))
  const visited = await grownBy(relay, each, (lease) => site.visit(lease))
  // each comes with a session of its own
  const portVisited = await grownBy(relay, Array(TCP_VISITORS).fill(tcp), (lease) => site.visitPort(lease))

  const question = { unit: 'KB', better: 'less' } as const
  yield limited({ ...question, name: 'relay memory, idle native session' }, ready, IDLE_MAX_KB)
  yield limited({ ...question, name: 'relay memory, idle visitor of a site' }, visited, IDLE_MAX_KB)
  yield limited(
    { ...question, name: 'relay memory, idle visitor of a TCP port and its session' },
    portVisited,
    2 * IDLE_MAX_KB,
  )
  site.close()
  await relay.stop()
}

/** @returns KB for each; what was done to open it is collected every now and then, as it is while a relay runs */
async function grownBy(
  relay: BenchRelay,
  leases: RegisterResponse[],
  open: (lease: RegisterResponse) => Promise<void>,
): Promise<number> {
  const before = await memoryOf(relay)
  let after = before
  for (const [index, lease] of leases.entries()) {
    await open(lease)
    if ((index + 1) % COLLECT_EVERY === 0) after = await memoryOf(relay)
  }
  return grownKb(before, after) / leases.length
}

/** Both ends of every connection: a client of the relay that answers its visitors, and the visitors. */
class Site {
  readonly #relay: BenchRelay
  readonly #api: RelayApi
  readonly #tls: Parameters<typeof dial>[0]['tls']
  readonly #visitors: Socket[] = []
  readonly #sessions: TLSSocket[] = []

  private constructor(relay: BenchRelay, ca: string) {
    this.#relay = relay
    this.#api = new RelayApi(relay.url, ca, 1)
    this.#tls = { secureContext: createSecureContext({ ca }), lookup: localhostLookup }
  }

  static async of(relay: BenchRelay): Promise<Site> {
    return new Site(relay, await relay.ca())
  }

  register(name: string, hasPort: boolean): Promise<RegisterResponse> {
    return this.#api.register(newIdentity(), name, { tcp_enabled: hasPort })
  }

  /** A session that is ready, and answers when it is a visitor's. */
  async offer({ reverse_endpoint: { url, capability } }: RegisterResponse): Promise<void> {
    const way = { url: new URL(url), upgrade: RAW_UPGRADE, tls: this.#tls } as const
    const target = { ...way, capability, keepSession: () => {} }
    const { socket } = await dial(target, AbortSignal.timeout(WAIT_MAX_MS))
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      if (bytes.some((byte) => byte !== MARKER.keepalive)) socket.write(ANSWER)
    })
    this.#sessions.push(socket)
  }

  async visit({ hostname }: RegisterResponse): Promise<void> {
    await this.#enter(this.#relay.port, await recordClientHello('X25519', hostname))
  }

  async visitPort(lease: RegisterResponse): Promise<void> {
    await this.offer(lease)
    await this.#enter(Number(lease.tcp_addr!.split(':').at(-1)), Uint8Array.of(1))
  }

  /** @param bytes that are said at once */
  async #enter(port: number, bytes: Uint8Array): Promise<void> {
    const visitor = connect({ host: '127.0.0.1', port })
    this.#visitors.push(visitor)
    visitor.on('error', () => {})
    visitor.write(bytes)
    const [answer] = await once(visitor, 'data', { signal: AbortSignal.timeout(WAIT_MAX_MS) })
    if (!answer.toString().startsWith(ANSWER)) throw new Error('a visitor was turned away')
  }

  close(): void {
    this.#api.close()
    for (const socket of [...this.#visitors, ...this.#sessions]) socket.destroy()
  }
}
