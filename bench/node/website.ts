// A site at the relay's own port: TLS that ends at the local service (`tls`), and TLS that ends in `svc` (`http`).

import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { download as downloadHttps } from '../http/visitors.ts'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry, type Question } from '../lib/entry.ts'
import { type OwnTunnel, startOwn, startPeers } from './tunnels.ts'
import { answersPerSecond, download, type Entrance, visitorsPerSecond } from './visitors.ts'
import type { Service } from './work.ts'

const TRANSFER_BYTES = 100_000_000
const CALLERS = 32
const COMING_AT_ONCE = 8
const SECONDS = 1
/** The service's certificate is for this name. */
const SERVICE_NAME = 'localhost'

type Metric = Omit<Question, 'peer' | 'target'>
type Measure = (entrance: Required<Entrance>) => Promise<number>

interface Compared {
  ours: Required<Entrance>
  /** By what it is; with the least ratio that is wanted. */
  others: { name: string; target: number | null; entrance: Required<Entrance> }[]
  runs: number
}

export async function* website(service: Service, runs: number): AsyncGenerator<Entry> {
  yield* passthrough(service, runs)
  yield* terminated(service, runs)
}

async function* passthrough(service: Service, runs: number): AsyncGenerator<Entry> {
  const ours = await startOwn(['--tls', `127.0.0.1:${service.tls}`])
  const tls = { servername: ours.hostname, ca: service.certificate, checkServerIdentity: () => undefined }
  yield* beside(service, service.tls, { entrance: { port: ours.port, tls }, tunnel: ours }, runs, {
    'tls: download, 1 stream': ['MB/s', (entrance) => download(entrance, TRANSFER_BYTES, 1)],
    [`tls: answers, ${CALLERS} connections`]: [
      'per s',
      (entrance) => answersPerSecond(entrance, CALLERS, SECONDS),
    ],
    'tls: visitors who ask once': [
      'per s',
      (entrance) => visitorsPerSecond(entrance, COMING_AT_ONCE, SECONDS),
    ],
  })
}

async function* terminated(service: Service, runs: number): AsyncGenerator<Entry> {
  const ours = await startOwn([`http://127.0.0.1:${service.http}`])
  const tls = { servername: ours.hostname, ca: ours.ca }
  yield* beside(service, service.https, { entrance: { port: ours.port, tls }, tunnel: ours }, runs, {
    'http: download, 1 visitor': [
      'MB/s',
      ({ port, tls }) => downloadHttps({ host: tls.servername, port, ca: tls.ca }, TRANSFER_BYTES, 1),
    ],
    [`http: answers, ${CALLERS} visitors`]: [
      'per s',
      ({ port, tls }) =>
        requestsPerSecond({
          url: `https://${tls.servername}:${port}/`,
          ca: tls.ca,
          connections: CALLERS,
          seconds: SECONDS,
        }),
    ],
  })
}

/** Ours, the service itself, and peers that encrypt, with the service's own TLS inside. */
async function* beside(
  service: Service,
  port: number,
  { entrance, tunnel }: { entrance: Required<Entrance>; tunnel: OwnTunnel },
  runs: number,
  metrics: Record<string, [unit: string, measure: Measure]>,
): AsyncGenerator<Entry> {
  const peers = await startPeers(port, ({ target }) => target !== null)
  const tls = { servername: SERVICE_NAME, ca: service.certificate }
  const others: Compared['others'] = [
    { name: 'no tunnel', target: null, entrance: { port, tls } },
    ...peers.map(({ peer, port }) => ({ name: peer.name, target: peer.target, entrance: { port, tls } })),
  ]
  for (const [name, [unit, measure]] of Object.entries(metrics))
    yield* compareAll({ ours: entrance, others, runs }, { name, unit, better: 'more' }, measure)
  for (const { stop } of [tunnel, ...peers]) await stop()
}

async function* compareAll(
  { ours, others, runs }: Compared,
  metric: Metric,
  measure: Measure,
): AsyncGenerator<Entry> {
  const all = [{ name: 'ours', entrance: ours }, ...others]
  const values = await alternate(
    runs,
    Object.fromEntries(all.map(({ name, entrance }) => [name, () => measure(entrance)])),
  )
  for (const { name, target } of others)
    yield compared({ ...metric, peer: name, target }, values.ours!, values[name]!)
}
