// Tunnels to one UDP service: ours as `svc expose --udp` makes it, and those peers that are on this machine.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, freeRange } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { findProgram } from '../node/peers.ts'
import { Programs } from '../node/processes.ts'
import { roundTrips } from './client.ts'

const CLI = path.join(root, 'sdk-node/src/cli/main.ts')
const PORTS = 10

export interface UdpTunnel {
  /** The port to which visitors send. */
  port: number
  stop(): Promise<void>
}

export interface OwnUdpTunnel extends UdpTunnel {
  relay: BenchRelay
}

export async function startOwn(service: number, execArgv: string[] = []): Promise<OwnUdpTunnel> {
  const min = await freeRange(PORTS)
  const range = { MIN_PORT: `${min}`, MAX_PORT: `${min + PORTS - 1}` }
  const relay = await BenchRelay.start({ execArgv, env: { UDP_ENABLED: 'true', ...range } })
  const programs = new Programs()
  const identity = path.join(relay.directory, 'tenant.json')
  const options = ['--relay', relay.url, '--ca', relay.caFile, '--identity-path', identity, '--json']
  const child = programs.start(process.execPath, [CLI, 'expose', '--udp', `${service}`, ...options])
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => {
      const report = JSON.parse(line)
      if (report.event === 'online') resolve(report.udp_address)
      else if (report.event === 'failed') reject(new Error(report.message))
    })
    child.once('exit', (code) => reject(new Error(`svc ended with ${code}: ${programs.complaints}`)))
  })
  return {
    port: Number(address.split(':').at(-1)),
    relay,
    stop: async () => {
      await programs.stop()
      await relay.stop()
    },
  }
}

export interface PeerUdpTunnel extends UdpTunnel {
  name: string
}

interface Peer {
  name: string
  needs: readonly string[]
  install: string
  /** Starts its programs, after which visitors reach the service at a port that is found free. */
  start(programs: Programs, find: (program: string) => string, way: Way): Promise<void>
}

interface Way {
  service: number
  port: number
  /** The folder for configuration. */
  directory: string
}

export const PEERS: readonly Peer[] = [
  { name: 'frp', needs: ['frps', 'frpc'], install: 'frps and frpc of a release', start: startFrp },
  {
    name: 'chisel',
    needs: ['chisel'],
    install: 'go install github.com/jpillora/chisel@latest',
    start: async (programs, find, { service, port }) => {
      const control = await freePort()
      programs.start(find('chisel'), ['server', '--reverse', '--host', '127.0.0.1', '--port', `${control}`])
      await programs.listening(control)
      programs.start(find('chisel'), [
        'client',
        `http://127.0.0.1:${control}`,
        `R:127.0.0.1:${port}:127.0.0.1:${service}/udp`,
      ])
    },
  },
]

/** @returns the tunnels of the peers that are installed */
export async function startPeers(service: number): Promise<PeerUdpTunnel[]> {
  const installed = PEERS.filter(({ needs }) => needs.every((program) => findProgram(program)))
  return await Promise.all(installed.map((peer) => startPeer(peer, service)))
}

async function startPeer({ name, start }: Peer, service: number): Promise<PeerUdpTunnel> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-udp-'))
  const port = await freePort()
  const programs = new Programs()
  await start(programs, (program) => findProgram(program)!, { service, port, directory })
  // a UDP port shows that it is there only by an answer
  while (!((await roundTrips(port, 64)).perSecond > 0));
  return {
    name,
    port,
    stop: async () => {
      await programs.stop()
      await rm(directory, { recursive: true })
    },
  }
}

async function startFrp(
  programs: Programs,
  find: (program: string) => string,
  { service, port, directory }: Way,
): Promise<void> {
  const control = await freePort()
  const server = path.join(directory, 'frps.toml')
  const client = path.join(directory, 'frpc.toml')
  await writeFile(server, `bindAddr = "127.0.0.1"\nbindPort = ${control}\n`)
  const proxy = `name = "udp"\ntype = "udp"\nlocalIP = "127.0.0.1"\nlocalPort = ${service}\nremotePort = ${port}\n`
  await writeFile(client, `serverAddr = "127.0.0.1"\nserverPort = ${control}\n\n[[proxies]]\n${proxy}`)
  programs.start(find('frps'), ['-c', server])
  await programs.listening(control)
  programs.start(find('frpc'), ['-c', client])
}
