// The tunnels that a user would pick instead: each with its own server and client on this machine, started as its manual says.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import type { Programs } from './processes.ts'

/** The folder into which bench/node/peers.sh put the programs that are not in PATH. */
const PEERS: string[] = process.env.BENCH_PEERS ? [path.join(process.env.BENCH_PEERS, 'bin')] : []

interface Way {
  /** The port of the service; `to` is the port at which visitors find it. */
  from: number
  to: number
  /** The folder for keys and configuration. */
  directory: string
}

export interface PeerTunnel {
  name: string
  /** The least ratio that is wanted against it; null where it is there for comparison only. */
  target: number | null
  needs: readonly string[]
  install: string
  start(programs: Programs, find: (program: string) => string, way: Way): Promise<void>
}

export const PEER_TUNNELS: readonly PeerTunnel[] = [
  {
    name: 'ssh -R',
    target: 1,
    needs: ['ssh', 'sshd', 'ssh-keygen'],
    install: 'apt-get install openssh-server',
    start: startSsh,
  },
  {
    name: 'chisel',
    target: 1,
    needs: ['chisel'],
    install: 'go install github.com/jpillora/chisel@latest',
    start: async (programs, find, { from, to }) => {
      const port = await freePort()
      programs.start(find('chisel'), ['server', '--reverse', '--host', '127.0.0.1', '--port', `${port}`])
      await programs.listening(port)
      programs.start(find('chisel'), [
        'client',
        `http://127.0.0.1:${port}`,
        `R:127.0.0.1:${to}:127.0.0.1:${from}`,
      ])
    },
  },
  {
    name: 'frp',
    target: 0.7,
    needs: ['frps', 'frpc'],
    install: 'go, then bench/node/peers.sh; or frps and frpc of a release in $BENCH_PEERS/bin',
    start: startFrp,
  },
  {
    name: 'rathole (no encryption)',
    target: null,
    needs: ['rathole'],
    install: 'cargo install rathole',
    start: startRathole,
  },
  {
    name: 'bore (no encryption)',
    target: null,
    needs: ['bore'],
    install: 'cargo install bore-cli',
    start: async (programs, find, { from, to }) => {
      // its control port cannot be chosen
      const CONTROL_PORT = 7835
      programs.start(find('bore'), ['server', '--bind-addr', '127.0.0.1'])
      await programs.listening(CONTROL_PORT)
      programs.start(find('bore'), [
        'local',
        `${from}`,
        '--local-host',
        '127.0.0.1',
        '--to',
        '127.0.0.1',
        '--port',
        `${to}`,
      ])
    },
  },
]

/** @returns undefined where there is no such program */
export function findProgram(name: string): string | undefined {
  const folders = [...PEERS, ...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']
  return folders.map((folder) => path.join(folder, name)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A server of its own, with keys that live as long as the benchmark. */
async function startSsh(programs: Programs, find: (program: string) => string, way: Way): Promise<void> {
  const { directory } = way
  const port = await freePort()
  const [hostKey, userKey] = ['host', 'user'].map((name) => path.join(directory, name)) as [string, string]
  for (const file of [hostKey, userKey])
    spawnSync(find('ssh-keygen'), ['-q', '-t', 'ed25519', '-N', '', '-f', file])
  // where it separates its privileges, which Debian makes when the service starts
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: hostKey,
    AuthorizedKeysFile: `${userKey}.pub`,
    StrictModes: 'no',
    PidFile: 'none',
    // sessions of one connection, and connections that wait for a channel
    MaxSessions: 1000,
  }
  const file = path.join(directory, 'sshd_config')
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  )
  programs.start(find('sshd'), ['-D', '-e', '-f', file])
  await programs.listening(port)
  const options = [
    'StrictHostKeyChecking=no',
    `UserKnownHostsFile=${path.join(directory, 'known_hosts')}`,
    'IdentitiesOnly=yes',
    'ExitOnForwardFailure=yes',
    'LogLevel=ERROR',
  ].flatMap((option) => ['-o', option])
  const forward = ['-R', `127.0.0.1:${way.to}:127.0.0.1:${way.from}`]
  const user = `${userInfo().username}@127.0.0.1`
  programs.start(find('ssh'), [
    '-N',
    '-F',
    'none',
    '-i',
    userKey,
    ...options,
    ...forward,
    '-p',
    `${port}`,
    user,
  ])
}

/** TLS and multiplexing between its two halves are what it does when nothing is set. */
async function startFrp(programs: Programs, find: (program: string) => string, way: Way): Promise<void> {
  const port = await freePort()
  const server = path.join(way.directory, 'frps.toml')
  const client = path.join(way.directory, 'frpc.toml')
  writeFileSync(server, `bindAddr = "127.0.0.1"\nbindPort = ${port}\n`)
  const proxy = `name = "bench"\ntype = "tcp"\nlocalIP = "127.0.0.1"\nlocalPort = ${way.from}\nremotePort = ${way.to}\n`
  writeFileSync(client, `serverAddr = "127.0.0.1"\nserverPort = ${port}\n\n[[proxies]]\n${proxy}`)
  programs.start(find('frps'), ['-c', server])
  await programs.listening(port)
  programs.start(find('frpc'), ['-c', client])
}

async function startRathole(programs: Programs, find: (program: string) => string, way: Way): Promise<void> {
  const port = await freePort()
  const server = path.join(way.directory, 'server.toml')
  const client = path.join(way.directory, 'client.toml')
  const service = '[server.services.bench]\ntoken = "bench"\n'
  writeFileSync(
    server,
    `[server]\nbind_addr = "127.0.0.1:${port}"\n${service}bind_addr = "127.0.0.1:${way.to}"\n`,
  )
  const local = `[client.services.bench]\ntoken = "bench"\nlocal_addr = "127.0.0.1:${way.from}"\n`
  writeFileSync(client, `[client]\nremote_addr = "127.0.0.1:${port}"\n${local}`)
  programs.start(find('rathole'), ['--server', server])
  await programs.listening(port)
  programs.start(find('rathole'), ['--client', client])
}
