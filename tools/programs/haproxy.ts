// Starts Debian's haproxy as the load balancer of relays: it passes TLS on as it is, and tells the client's address by PROXY v2.
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../network/free-port.ts'
import { aptGet, ensure } from './install.ts'
import { endServer, isRunning, spawnServer } from './server-process.ts'

export interface HaproxyOptions {
  /** @default a free port, of all addresses */
  port?: number
  /** Relays on this machine, by names of their own without spaces. */
  backends: readonly { name: string; port: number }[]
  /** The relays' host, without a port, which health checks name. */
  host: string
  /**
   * Milliseconds between two checks of a backend that is up. A handshake that takes longer than that is a failed check.
   * @default 3 seconds, which a busy machine does not exceed
   */
  checkIntervalMs?: number
}

/** A backend as the balancer sees it. `check`: answers its health checks or not; `set`: what {@link Haproxy.set} said. */
type BackendState = 'up' | 'down' | 'drain' | 'maint'

export interface Haproxy {
  readonly port: number
  /** The state of each backend, by its name. */
  states(): Promise<Record<string, BackendState>>
  /** Gives a backend new connections again (`ready`), or none, while it keeps (`drain`) or loses (`maint`) health checks. */
  set(name: string, state: 'ready' | 'drain' | 'maint'): Promise<void>
  /** Resolves when the backends that are up are these. @throws Error when that takes too long */
  untilUp(names: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** The address from which it connects to relays: the one that they list in `TRUSTED_PROXIES`. No client has it. */
export const BALANCER_ADDRESS = '127.0.0.2'

const CHECK_INTERVAL_MS = 3_000
/** Milliseconds between two checks of a backend that is down. */
const DOWN_INTERVAL_MS = 300
/** Milliseconds from the handshake of a check to its answer. */
const CHECK_TIMEOUT_MS = 10_000
const CONNECTIONS_MAX = 10_000
const HTTP_BUFFER_BYTES = 128 * 1024
const START_TIMEOUT_MS = 60_000
const UP_TIMEOUT_MS = 60_000
const LOOK_MS = 50

export function ensureHaproxy(): void {
  if (ensure(findHaproxy, [aptGet('haproxy')]) === undefined)
    console.log('No haproxy: tests of relays on several machines are skipped (Debian haproxy).')
}

/** @returns the program's path, which is not in the PATH of every user */
export function findHaproxy(): string | undefined {
  const programs = ['haproxy', '/usr/sbin/haproxy']
  return programs.find((program) => spawnSync(program, ['-v']).error === undefined)
}

/** Rejects where haproxy cannot run: a test asks {@link findHaproxy} first, and is skipped. */
export async function startHaproxy(options: HaproxyOptions): Promise<Haproxy> {
  const { port = await freePort() } = options
  const { control, stop } = await run((control) => configuration({ ...options, port }, control))
  const states = async (): Promise<Record<string, BackendState>> =>
    statesOf(await command(control, 'show stat -1 4 -1'))
  return {
    port,
    states,
    set: async (name, state) => {
      const answer = (await command(control, `set server relays/${name} state ${state}`)).trim()
      if (answer !== '') throw new Error(`haproxy: ${answer}`)
    },
    untilUp: async (names) => {
      const until = performance.now() + UP_TIMEOUT_MS
      for (;;) {
        const seen = await states()
        const up = Object.keys(seen).filter((name) => seen[name] === 'up')
        if (up.sort().join() === [...names].sort().join()) return
        if (performance.now() > until) throw new Error(`haproxy: ${JSON.stringify(seen)}`)
        await sleep(LOOK_MS)
      }
    },
    stop,
  }
}

/**
 * Starts haproxy as a service that expects a header of the PROXY protocol and answers each HTTP request with the addresses in it, as
 * `source port destination port`. Rejects as {@link startHaproxy}.
 * @param certificate file of a certificate and its key, for a service of TLS
 */
export async function startProxyHaproxy(certificate?: string): Promise<Pick<Haproxy, 'port' | 'stop'>> {
  const port = await freePort()
  const lines = [
    '  nbthread 1',
    '  no strict-limits',
    'defaults',
    '  mode http',
    '  timeout client 60s',
    'frontend visitors',
    `  bind 127.0.0.1:${port} accept-proxy${certificate === undefined ? '' : ` ssl crt ${certificate}`}`,
    '  http-request return status 200 content-type text/plain lf-string "%[src] %[src_port] %[dst] %[dst_port]"',
    '',
  ]
  const { stop } = await run((control) =>
    ['global', `  stats socket ${control} mode 600`, ...lines].join('\n'),
  )
  return { port, stop }
}

/** Starts haproxy as an HTTP proxy before a server on this machine, with a head of up to 64 KiB. Rejects as {@link startHaproxy}. */
export async function startHttpHaproxy(server: number): Promise<Pick<Haproxy, 'port' | 'stop'>> {
  const port = await freePort()
  const lines = [
    '  nbthread 1',
    '  no strict-limits',
    `  tune.bufsize ${HTTP_BUFFER_BYTES}`,
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 60s',
    '  timeout server 60s',
    // Events leave as they come, where HAProxy would wait 200 ms for more.
    '  option http-no-delay',
    'frontend visitors',
    `  bind 127.0.0.1:${port}`,
    '  default_backend target',
    'backend target',
    '  retries 0',
    `  server target 127.0.0.1:${server}`,
    '',
  ]
  const { stop } = await run((control) =>
    ['global', `  stats socket ${control} mode 600`, ...lines].join('\n'),
  )
  return { port, stop }
}

/** Runs the program until `stop`. @param configure gets the path of its runtime API */
async function run(
  configure: (control: string) => string,
): Promise<{ control: string; stop(): Promise<void> }> {
  const program = findHaproxy()
  if (program === undefined) throw new Error('haproxy cannot be had: it needs apt (Debian haproxy)')
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-haproxy-'))
  const [config, control] = [path.join(directory, 'haproxy.cfg'), path.join(directory, 'control')]
  writeFileSync(config, configure(control))
  const child = spawnServer(program, ['-db', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = async (): Promise<void> => {
    await endServer(child)
    rmSync(directory, { recursive: true, force: true })
  }
  await listens(child, control).catch(async (error) => {
    await stop()
    throw error
  })
  return { control, stop }
}

/** A relay counts as dead after one check that fails, or one connection that it refuses; that one goes to another relay. */
function configuration(
  { port, backends, host, checkIntervalMs = CHECK_INTERVAL_MS }: HaproxyOptions,
  control: string,
): string {
  const server = [
    `send-proxy-v2 check check-send-proxy check-ssl verify none check-sni ${host} check-alpn http/1.1`,
    `inter ${checkIntervalMs} downinter ${DOWN_INTERVAL_MS} fall 1 rise 1`,
    'observe layer4 error-limit 1 on-error mark-down',
  ].join(' ')
  return [
    'global',
    `  stats socket ${control} mode 600 level admin`,
    '  nbthread 1',
    `  maxconn ${CONNECTIONS_MAX}`,
    '  no strict-limits',
    'defaults',
    '  mode tcp',
    '  timeout connect 5s',
    `  timeout check ${CHECK_TIMEOUT_MS}ms`,
    '  timeout client 24h',
    '  timeout server 24h',
    'frontend clients',
    `  bind :::${port} v4v6`,
    '  default_backend relays',
    'backend relays',
    '  balance leastconn',
    '  retries 3',
    '  option redispatch 1',
    '  option httpchk',
    `  http-check send meth GET uri /api/healthz ver HTTP/1.1 hdr Host ${host}`,
    '  http-check expect status 200',
    `  source ${BALANCER_ADDRESS}`,
    ...backends.map(({ name, port }) => `  server ${name} 127.0.0.1:${port} ${server}`),
    '',
  ].join('\n')
}

/** Resolves when the program listens. @throws Error with its output when it ends before */
async function listens(child: ChildProcess, control: string): Promise<void> {
  let output = ''
  // The program would wait for a reader that stops reading.
  child.stderr!.on('data', (bytes: Buffer) => {
    output = `${output}${bytes}`.slice(-10_000)
  })
  child.on('error', () => {})
  const until = performance.now() + START_TIMEOUT_MS
  while ((await command(control, 'show version').catch(() => '')) === '') {
    if (!isRunning(child)) throw new Error(`haproxy ended: ${output}`)
    if (performance.now() > until) throw new Error(`haproxy does not listen: ${output}`)
    await sleep(LOOK_MS)
  }
}

/** Sends one command to its runtime API. @returns the answer */
async function command(control: string, text: string): Promise<string> {
  const socket = connect(control)
  await once(socket, 'connect')
  socket.end(`${text}\n`)
  return Buffer.concat(await socket.toArray()).toString()
}

/** Reads the table of backends, whose first line names the columns. */
function statesOf(table: string): Record<string, BackendState> {
  const [head = '', ...lines] = table.trim().split('\n')
  const columns = head.replace('# ', '').split(',')
  const [name, status] = [columns.indexOf('svname'), columns.indexOf('status')]
  return Object.fromEntries(
    lines.map((line) => {
      const fields = line.split(',')
      // "UP 1/2" is a backend of which not enough checks have succeeded or failed to change that.
      return [fields[name], fields[status]!.split(' ')[0]!.toLowerCase()]
    }),
  )
}
