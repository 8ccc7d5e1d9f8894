// A network of this machine's own for tests: each host is a network namespace, and one bridge links them.
//
// Everything has a name with the number of this process, and ends with it. What a killed process left behind is removed
// by the next one.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findWireGuardPrograms, type ProgramPaths } from '../programs/wireguard.ts'

export interface NetworkHost {
  /** Name of its network namespace. */
  readonly namespace: string
  /** Its IPv4 address on the bridge. */
  readonly address: string
  /** A name that all hosts resolve to {@link address}, with their file `/etc/hosts`: `relay-1.test` and so on. */
  readonly hostname: string
  /** The command that runs a program on the host: it goes in front of the program's own command line. */
  readonly through: readonly string[]
  /** Runs a program to its end. @returns its standard output. @throws Error with its standard error when it fails */
  run(program: string, ...args: string[]): string
  /** Plugs the host's cable in, or pulls it out. */
  plug(isPlugged: boolean): void
}

export interface TestNetwork {
  readonly hosts: readonly NetworkHost[]
  /** Variables with which a process on a host finds `ip`, `wg` and `wireguard-go`, beside those of this process. */
  readonly env: ProgramPaths
  /** Removes the namespaces, with all interfaces in them. The programs on the hosts have to be ended before. */
  close(): void
}

export interface NetworkOptions {
  /** First three bytes of the addresses. @default `10.0.0`, which is private */
  subnet?: string
}

/** Names of namespaces, up to the number of their process. */
const PREFIX = 'svc-test'
/** The folder in which `ip netns exec` finds files that replace those of /etc in a namespace. */
const ETC = '/etc/netns'
const COMMAND_TIMEOUT_MS = 30_000

let networks = 0
let reason: { why: string | undefined } | undefined

/** The reason why this machine has no such network; undefined where it has one. */
export function whyNoNetwork(): string | undefined {
  reason ??= { why: findReason() }
  return reason.why
}

/** @throws Error where {@link whyNoNetwork} has a reason: a test asks it first, and is skipped */
export function startNetwork(count: number, { subnet = '10.0.0' }: NetworkOptions = {}): TestNetwork {
  const why = whyNoNetwork()
  if (why !== undefined) throw new Error(why)
  const base = `${PREFIX}-${process.pid}-${++networks}`
  const names = Array.from({ length: count }, (_, index) => `${base}-${index + 1}`)
  const bridge = `${base}-bridge`
  const close = (): void => {
    process.off('exit', close)
    for (const name of [...names, bridge]) remove(name)
  }
  process.once('exit', close)
  try {
    ip('netns', 'add', bridge)
    ip('-n', bridge, 'link', 'add', 'bridge', 'type', 'bridge')
    ip('-n', bridge, 'link', 'set', 'bridge', 'up')
    const hosts = names.map((name, index) => addHost(name, bridge, index + 1, subnet))
    const lines = hosts.map(({ address, hostname }) => `${address} ${hostname}\n`)
    for (const { namespace } of hosts) {
      mkdirSync(path.join(ETC, namespace), { recursive: true })
      writeFileSync(path.join(ETC, namespace, 'hosts'), ['127.0.0.1 localhost\n', ...lines].join(''))
    }
    return { hosts, env: findWireGuardPrograms() ?? {}, close }
  } catch (error) {
    close()
    throw error
  }
}

function addHost(namespace: string, bridge: string, number: number, subnet: string): NetworkHost {
  const address = `${subnet}.${number}`
  const cable = `host${number}`
  const through = ['ip', 'netns', 'exec', namespace]
  ip('netns', 'add', namespace)
  ip('-n', bridge, 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
  ip('-n', bridge, 'link', 'set', cable, 'master', 'bridge', 'up')
  ip('-n', namespace, 'link', 'set', 'lo', 'up')
  ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  return {
    namespace,
    address,
    hostname: `relay-${number}.test`,
    through,
    run: (...command) => must([...through, ...command]),
    plug: (isPlugged) => void ip('-n', bridge, 'link', 'set', cable, isPlugged ? 'up' : 'down'),
  }
}

function findReason(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux'
  if (process.getuid?.() !== 0) return 'network namespaces need root'
  if (!existsSync('/dev/net/tun')) return 'WireGuard in user space needs /dev/net/tun'
  if (findWireGuardPrograms() === undefined)
    return 'the machine lacks ip, nft, wg, wireguard-go, iperf3 or tcpdump, and apt cannot bring them (Debian iproute2, nftables, wireguard-tools, wireguard-go, iperf3, tcpdump)'
  const name = `${PREFIX}-${process.pid}-probe`
  try {
    removeAbandoned()
    ip('netns', 'add', name)
    ip('netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up')
    return undefined
  } catch (error) {
    return `this system makes no network namespaces: ${(error as Error).message}`
  } finally {
    remove(name)
  }
}

/** Removes the namespaces of processes that are gone. */
function removeAbandoned(): void {
  const present = existsSync('/run/netns') ? readdirSync('/run/netns') : []
  for (const name of present) {
    const pid = new RegExp(`^${PREFIX}-([0-9]+)-`).exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(name)
  }
}

/** A namespace that is not there is no error. */
function remove(name: string): void {
  run(['ip', 'netns', 'delete', name])
  rmSync(path.join(ETC, name), { recursive: true, force: true })
}

function ip(...args: string[]): string {
  return must(['ip', ...args])
}

function must(command: readonly string[]): string {
  const { status, stdout, stderr, error } = run(command)
  if (status !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}${error?.message ?? ''}`)
  return stdout
}

function run([program = '', ...args]: readonly string[]): SpawnSyncReturns<string> {
  const env = { ...process.env, ...findWireGuardPrograms() }
  return spawnSync(program, args, { encoding: 'utf8', env, timeout: COMMAND_TIMEOUT_MS })
}
