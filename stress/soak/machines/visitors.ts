// Visitors of the sites who come in at a machine of their choice or by the load balancer, and compare every byte with what it has to be.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Site } from '@svc/sdk-node'
import type { Machine } from '../../../tools/relay/machine.ts'
import type { Machines } from '../../../tools/relay/machines.ts'
import { visitorOf } from '../../../tools/site/node-site.ts'
import { openSocket } from '../../../tools/site/socket-visitor.ts'
import { askOnce, inTime, requireBytes, WrongBytes } from '../../honest-visitor.ts'
import type { Random } from '../random.ts'
import type { MachineFaults } from './faults.ts'
import { pieceOf } from './sites.ts'

const BODY_MAX_BYTES: number = 2 * 1024 * 1024
const PIECES_MAX = 100
const MESSAGES_MAX = 20
const MESSAGE_MAX_BYTES = 50_000
/** It ends what hangs: a visitor waits ten seconds for a session, and a busy machine is slow. */
const VISIT_DEADLINE_MS = 60_000
const PAUSE_MAX_MS = 200

interface VisitorsParts {
  sites: readonly Site[]
  relay: Machines
  ca: string
  faults: MachineFaults
  random: Random
}

export class MachineVisitors {
  served = 0
  /** Visits that were cut off with a machine. */
  excused = 0
  readonly wrong: string[] = []
  readonly lost: string[] = []
  readonly #parts: VisitorsParts

  constructor(parts: VisitorsParts) {
    this.#parts = parts
  }

  async run(until: number): Promise<void> {
    const { sites, faults, random } = this.#parts
    while (Date.now() < until) {
      const from = Date.now()
      const site = random.of(sites)
      const entry = random.of([undefined, ...faults.present])
      const kind = random.of(this.#kinds)
      try {
        await inTime(kind.visit(site, entry), VISIT_DEADLINE_MS)
        this.served += 1
      } catch (error) {
        this.#judge(error, from, entry, `${kind.name} of ${site.url} by ${entry?.name ?? 'haproxy'}`)
      }
      await new Promise((resolve) => setTimeout(resolve, random.between(0, PAUSE_MAX_MS)))
    }
  }

  /** @returns whether each machine serves each site now */
  async areServedEverywhere(): Promise<boolean> {
    const { sites, relay } = this.#parts
    const visits = relay.machines.flatMap((machine) => sites.map((site) => this.#echo(site, machine, 1)))
    return (await Promise.allSettled(visits)).every(({ status }) => status === 'fulfilled')
  }

  readonly #kinds: readonly {
    name: string
    visit: (site: Site, entry: Machine | undefined) => Promise<void>
  }[] = [
    { name: 'echo', visit: (site, entry) => this.#echo(site, entry, this.#parts.random.between(1, 20_000)) },
    { name: 'echo', visit: (site, entry) => this.#echo(site, entry, this.#parts.random.between(1, 20_000)) },
    { name: 'upload', visit: (site, entry) => this.#echo(site, entry, BODY_MAX_BYTES) },
    { name: 'download', visit: (site, entry) => this.#download(site, entry) },
    { name: 'WebSocket', visit: (site, entry) => this.#talk(site, entry) },
  ]

  #judge(error: unknown, from: number, entry: Machine | undefined, what: string): void {
    const { message } = error as Error
    const text = `${new Date(from).toISOString()} ${what}, after ${Date.now() - from} ms: ${message.trim()}`
    if (error instanceof WrongBytes) this.wrong.push(text)
    else if (this.#parts.faults.excuse(from, entry)) this.excused += 1
    else {
      this.lost.push(`${text} (${this.#parts.faults.last})`)
      console.error(`lost: ${this.lost.at(-1)}`)
    }
  }

  async #echo(site: Site, entry: Machine | undefined, bytes: number): Promise<void> {
    const body = randomBytes(bytes)
    await this.#get(site, entry, '/echo', body, body)
  }

  async #download(site: Site, entry: Machine | undefined): Promise<void> {
    const pieces = this.#parts.random.between(1, PIECES_MAX)
    const expected = createHash('sha256')
    for (let piece = 0; piece < pieces; piece++) expected.update(pieceOf(piece))
    await this.#get(site, entry, `/bulk?pieces=${pieces}`, undefined, expected.digest('hex'))
  }

  async #get(
    site: Site,
    entry: Machine | undefined,
    path: string,
    body: Buffer | undefined,
    expected: Uint8Array | string,
  ): Promise<void> {
    const visitor = visitorOf(site, { ca: this.#parts.ca, port: this.#portOf(entry) })
    requireBytes(await askOnce(visitor, path, body), expected)
  }

  /** Sends messages, each of which has to come back before the next. */
  async #talk(site: Site, entry: Machine | undefined): Promise<void> {
    const { ca, random } = this.#parts
    const socket = openSocket(site, '/socket', { ca, port: this.#portOf(entry) })
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => {})
    socket.on('error', failed.reject)
    socket.on('close', (code) => failed.reject(new Error(`the WebSocket closed with ${code}`)))
    try {
      await Promise.race([once(socket, 'open'), failed.promise])
      for (let left = random.between(1, MESSAGES_MAX); left > 0; left--) {
        const message = randomBytes(random.between(1, MESSAGE_MAX_BYTES))
        const answer = once(socket, 'message')
        socket.send(message)
        const [echoed] = (await Promise.race([answer, failed.promise])) as [Buffer]
        if (!message.equals(echoed))
          throw new WrongBytes(`a message of ${message.length} bytes came back as another`)
      }
    } finally {
      socket.terminate()
    }
  }

  #portOf(entry: Machine | undefined): number {
    return entry?.port ?? this.#parts.relay.balancer.port
  }
}
