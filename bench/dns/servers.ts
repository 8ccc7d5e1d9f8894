// Starts our server, nsd and knot, each on the tested core, with the same names.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../tools/network/free-port.ts'
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'
import { moveToTestedCore, onTestedCore } from '../relay/cores.ts'

export const APEX = 'relay.test'
const HOST = '127.0.0.1'
/** Milliseconds in which a server is up; a benchmark that begins too early shows lost queries. */
const START_MS = 1500

export interface NameServer {
  port: number
  pid: number
  stop(): Promise<void>
}

/** What `dns-process.ts` takes. */
export interface OursOptions {
  /** Where the bridge beside the server leads; none without. */
  bridgeTo?: number
}

export interface Ours extends NameServer {
  /** The port of the bridge. */
  bridge: number | undefined
  /** Adds this many lease names. @returns bytes by which the process grew */
  grow(names: number): Promise<number>
}

export async function startOurs({ bridgeTo }: OursOptions = {}): Promise<Ours> {
  const child = fork(path.join(import.meta.dirname, 'dns-process.ts'), [`${bridgeTo ?? 0}`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ port, bridge }] = await once(child, 'message')
  if (bridgeTo === undefined) moveToTestedCore(child.pid!)
  return {
    port,
    pid: child.pid!,
    bridge,
    grow: async (names) => {
      child.send({ names })
      const [{ bytes }] = await once(child, 'message')
      return bytes
    },
    stop: () => end(child),
  }
}

export async function startNsd(debian: DebianPrograms): Promise<NameServer> {
  return startPeer(debian, (port, directory, zone) => {
    const config = `server:
  ip-address: ${HOST}
  port: ${port}
  server-count: 1
  username: ""
  database: ""
  zonesdir: "${directory}"
  zonelistfile: "${directory}/zone.list"
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  xfrdir: "${directory}"
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: ${APEX}
  zonefile: "${zone}"
`
    return ['nsd', ['-d', '-c', written(directory, 'nsd.conf', config)]]
  })
}

export async function startKnot(debian: DebianPrograms): Promise<NameServer> {
  return startPeer(debian, (port, directory, zone) => {
    const config = `server:
  rundir: "${directory}"
  listen: ${HOST}@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${directory}"
zone:
  - domain: ${APEX}
    storage: "${directory}"
    file: "${zone}"
    zonefile-sync: -1
`
    return ['knotd', ['-c', written(directory, 'knot.conf', config)]]
  })
}

async function startPeer(
  debian: DebianPrograms,
  configure: (port: number, directory: string, zone: string) => [program: string, args: string[]],
): Promise<NameServer> {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-bench-dns-'))
  const port = await freePort()
  const [program, args] = configure(port, directory, signedZone(debian, directory))
  const [command, all] = onTestedCore(debian.pathOf(program), args)
  const child = spawn(command, all, { env: { ...process.env, ...debian.env }, stdio: 'ignore' })
  await pause(START_MS)
  return {
    port,
    pid: child.pid!,
    stop: async () => {
      await end(child)
      rmSync(directory, { recursive: true })
    },
  }
}

/** A zone like ours, signed by bind9's tools with a key of the same kind. @returns the file's name */
function signedZone({ pathOf, env }: DebianPrograms, directory: string): string {
  const zone = `$ORIGIN ${APEX}.
$TTL 60
@ SOA ns1 hostmaster 1 3600 600 86400 60
@ NS ns1
ns1 A 192.0.2.1
@ A 192.0.2.1
* A 192.0.2.1
www A 192.0.2.1
`
  written(directory, 'zone', zone)
  const run = (program: string, args: string[]): void => {
    const { status, stderr } = spawnSync(pathOf(program), args, {
      cwd: directory,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${program}: ${stderr}`)
  }
  run('dnssec-keygen', ['-a', 'ECDSAP256SHA256', '-f', 'KSK', APEX])
  const [key] = readdirSync(directory).filter((name) => name.endsWith('.key'))
  run('dnssec-signzone', ['-z', '-S', '-o', APEX, '-f', 'zone.signed', 'zone', key!.replace('.key', '')])
  return 'zone.signed'
}

function written(directory: string, name: string, content: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, content)
  return file
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
