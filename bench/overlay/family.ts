// The family `overlay`: routes over relays that WireGuard links, beside a raw connection through the same tunnel, and their memory.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { readLinkState } from '../../relay/src/features/overlay/wireguard/link-state.ts'
import { overlayAddressOf } from '../../relay/src/features/overlay/wireguard/overlay-address.ts'
import {
  type NetworkHost,
  startNetwork,
  type TestNetwork,
  whyNoNetwork,
} from '../../tools/network/namespaces.ts'
import { type LinkedRelay, startLinkedRelays } from '../../tools/relay/linked-relays.ts'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import type { VisitorCommand } from './visitor-process.ts'

const BYTES: number = 64 * 1024 * 1024
const ASKED = 200
const IPERF_SECONDS = 2
const IPERF_PORT = 5201
const ECHO_PORT = 5202
/** A hop has at least this share of the throughput of its tunnel. */
const SHARE_OF_TUNNEL = 0.7
const ROUTE_MAX_KB = 4
const KB = 1000
const MBIT = 1e6

export async function* overlay({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  yield memory()
  const why = whyNoNetwork()
  if (why !== undefined) {
    const question = {
      name: 'throughput over one hop',
      unit: 'Mbit/s',
      better: 'more',
      peer: 'iperf3',
    } as const
    yield missing({ ...question, target: SHARE_OF_TUNNEL }, null, why)
    return
  }
  const network = startNetwork(3)
  const children: ChildProcess[] = []
  const linked = await startLinkedRelays(network, { LOG_LEVEL: 'info' })
  try {
    await linked.connected()
    yield* measure(new Hosts(network, linked.relays, children), runs)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await linked.close()
    network.close()
  }
}

function memory(): Entry {
  const args = ['--expose-gc', path.join(import.meta.dirname, 'memory-process.ts')]
  const bytes = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  return limited({ name: 'memory of an idle route', unit: 'kB', better: 'less' }, bytes / KB, ROUTE_MAX_KB)
}

async function* measure(hosts: Hosts, runs: number): AsyncGenerator<Entry> {
  const [first, second] = hosts.relays
  const visitor = hosts.startVisitor(first!.host)
  const echo = hosts.startVisitor(second!.host)
  const [from, to] = [await overlayAddress(first!), await overlayAddress(second!)]
  await hosts.openTunnels()
  await echo({ kind: 'listen', host: to, port: ECHO_PORT })
  hosts.start(second!.host, ['iperf3', '--server', '--bind', to, '--port', `${IPERF_PORT}`])
  // Each site is beside the last relay of its route, so that nothing but the overlay is between the visitor and it.
  const direct = await hosts.publish(1, 'direct')
  const one = await hosts.publish(2, 'one')
  const two = await hosts.publish(3, 'two')
  const download = (url: string) => () => curl(first!, url)
  const speed = await alternate(runs, {
    direct: download(direct),
    one: download(one),
    two: download(two),
    tunnel: () => iperf(first!.host, from, to),
  })
  const throughput = { unit: 'Mbit/s', better: 'more', peer: 'iperf3 over one tunnel' } as const
  yield compared(
    { ...throughput, name: 'throughput over one hop', target: SHARE_OF_TUNNEL },
    speed.one,
    speed.tunnel,
  )
  yield compared({ ...throughput, name: 'throughput over two hops', target: null }, speed.two, speed.tunnel)
  yield compared(
    { ...throughput, name: 'throughput over one hop', peer: 'the site at the first relay', target: null },
    speed.one,
    speed.direct,
  )
  const ask = (url: string) => () => visitor({ kind: 'ask', url, times: ASKED })
  const latency = await alternate(runs, {
    direct: ask(direct),
    one: ask(one),
    two: ask(two),
    tunnel: () => visitor({ kind: 'echo', host: to, port: ECHO_PORT, localAddress: from, times: ASKED }),
  })
  const request = { unit: 'ms', better: 'less', peer: 'round trip of one tunnel', target: null } as const
  yield compared({ ...request, name: 'request at the first relay' }, latency.direct, latency.tunnel)
  yield compared({ ...request, name: 'request over one hop' }, latency.one, latency.tunnel)
  yield compared({ ...request, name: 'request over two hops' }, latency.two, latency.tunnel)
  const added = (latency.two - latency.direct) / 2
  yield compared({ ...request, name: 'added latency per hop' }, added, latency.tunnel)
}

/** The processes that run on the hosts. */
class Hosts {
  readonly relays: readonly LinkedRelay[]
  readonly #network: TestNetwork
  readonly #children: ChildProcess[]

  constructor(network: TestNetwork, relays: readonly LinkedRelay[], children: ChildProcess[]) {
    this.#network = network
    this.relays = relays
    this.#children = children
  }

  start(host: NetworkHost, command: readonly string[]): ChildProcess {
    const [program = '', ...args] = [...host.through, ...command]
    const env = { ...process.env, ...this.#network.env }
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#children.push(child)
    return child
  }

  /** @returns what measures, or does, one thing on the host */
  startVisitor(host: NetworkHost): (command: VisitorCommand) => Promise<number> {
    const script = path.join(import.meta.dirname, 'visitor-process.ts')
    const child = this.start(host, [process.execPath, script, this.relays[0]!.caFile])
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
    return async (command) => {
      child.stdin!.write(`${JSON.stringify(command)}\n`)
      const { value, error } = JSON.parse((await lines.next()).value ?? '{}')
      if (error !== undefined) throw new Error(error)
      return value
    }
  }

  /** @returns the URL of a site on a route over the first relays. @param count of relays */
  async publish(count: number, name: string): Promise<string> {
    const route = this.relays.slice(0, count)
    const script = path.join(import.meta.dirname, 'site-process.ts')
    const { host, caFile } = route.at(-1)!
    const urls = route.map(({ url }) => url).join()
    const child = this.start(host, [process.execPath, script, urls, caFile, name])
    const [line] = await once(createInterface(child.stdout!), 'line')
    return `${line}`
  }

  /** Removes the rules that keep other programs out of the tunnels, so that they can be measured. */
  async openTunnels(): Promise<void> {
    for (const { host, directory } of this.relays.slice(0, 2)) {
      const { interfaceName } = (await readLinkState(directory))!
      host.run('nft', 'delete', 'table', 'inet', interfaceName)
    }
  }
}

async function overlayAddress({ directory }: LinkedRelay): Promise<string> {
  return overlayAddressOf((await readLinkState(directory))!.publicKey)
}

/** @returns Mbit/s of a download through the relay, on its own host */
function curl({ host, caFile }: LinkedRelay, url: string): number {
  // Hosts know the names of relays, and not those of sites.
  const resolve = ['--resolve', `${new URL(url).hostname}:443:${host.address}`]
  const args = ['--silent', '--fail', '--cacert', caFile, ...resolve, '--output', '/dev/null']
  const report = host.run(
    'curl',
    ...args,
    '--write-out',
    '%{size_download} %{time_total}',
    `${url}/?bytes=${BYTES}`,
  )
  const [bytes = 0, seconds = 0] = report.split(' ').map(Number)
  if (bytes !== BYTES) throw new Error(`${bytes} of ${BYTES} bytes came`)
  return (bytes * 8) / seconds / MBIT
}

/** @returns Mbit/s that come from the server */
function iperf(host: NetworkHost, from: string, to: string): number {
  const target = ['--client', to, '--bind', from, '--port', `${IPERF_PORT}`]
  const report = host.run('iperf3', ...target, '--reverse', '--json', '--time', `${IPERF_SECONDS}`)
  return JSON.parse(report).end.sum_received.bits_per_second / MBIT
}
