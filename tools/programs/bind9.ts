// Starts Debian's bind9, a real authoritative DNS server, whose zone is changed by nsupdate with a key.
import { type ChildProcess, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../network/free-port.ts'
import { type DebianPrograms, findDebianPrograms } from './debian-packages.ts'
import { endServer, spawnServer } from './server-process.ts'

export interface Bind9Options {
  /** The zone that it serves, without a trailing dot. */
  zone: string
  /** Loopback addresses of the zone's name servers `ns1`, `ns2` …; this one listens on the first. @default 127.0.0.1 alone */
  addresses?: readonly string[]
  /** @default a free port */
  port?: number
  /** Further records of the zone in the presentation format, names relative to it. */
  records?: readonly string[]
}

export interface Bind9 {
  /** `ADDRESS:PORT` or `[IPV6]:PORT`. */
  address: string
  port: number
  /** The key as nsupdate reads it with `-k`. */
  keyFile: string
  /** Path of nsupdate, and the environment that it needs. */
  nsupdate: { path: string; env: Readonly<Record<string, string>> }
  /** Changes the zone by commands of nsupdate, such as `add www.relay.test. 0 A 192.0.2.1`. @throws Error with its message */
  update(...commands: string[]): void
  close(): Promise<void>
}

const PACKAGES = [
  'bind9',
  'bind9-libs',
  'bind9-dnsutils',
  'libfstrm0',
  'libjemalloc2',
  'libjson-c5',
  'liblmdb0',
  'libmaxminddb0',
  'libnghttp2-14',
  'libprotobuf-c1',
  'libuv1',
] as const
const START_TIMEOUT_MS = 60_000
const UPDATE_TIMEOUT_MS = 30_000

/** @returns undefined where the packages cannot be had */
export function findBind9(): DebianPrograms | undefined {
  return findDebianPrograms('bind9', PACKAGES)
}

/** Rejects where bind9 cannot be had: a test asks {@link findBind9} first, and is skipped. */
export async function startBind9(options: Bind9Options): Promise<Bind9> {
  const programs = findBind9()
  if (programs === undefined) throw new Error('bind9 cannot be had: it needs apt (Debian bind9)')
  const { zone, addresses = ['127.0.0.1'], port = await freePort(), records = [] } = options
  const { env, pathOf } = programs
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-bind9-'))
  const keyFile = path.join(directory, 'key')
  const secret = randomBytes(32).toString('base64')
  writeFileSync(keyFile, `key "relay" { algorithm hmac-sha256; secret "${secret}"; };\n`, { mode: 0o600 })
  writeFileSync(path.join(directory, 'zone'), zoneFile(zone, addresses, records))
  const config = path.join(directory, 'named.conf')
  writeFileSync(config, configuration(zone, addresses[0]!, port, directory, keyFile))
  const child = spawnServer(pathOf('named'), ['-g', '-c', config], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const close = async (): Promise<void> => {
    await endServer(child)
    rmSync(directory, { recursive: true, force: true })
  }
  if (!(await isReady(child))) {
    await close()
    throw new Error('bind9 does not start')
  }
  const nsupdate = { path: pathOf('nsupdate'), env }
  return {
    address: isIPv6(addresses[0]!) ? `[${addresses[0]}]:${port}` : `${addresses[0]}:${port}`,
    port,
    keyFile,
    nsupdate,
    update: (...commands) => {
      const input = [`server ${addresses[0]} ${port}`, ...commands, 'send', ''].join('\n')
      const { status, stderr } = spawnSync(nsupdate.path, ['-v', '-k', keyFile], {
        env: { ...process.env, ...env },
        input,
        encoding: 'utf8',
        timeout: UPDATE_TIMEOUT_MS,
      })
      if (status !== 0) throw new Error(`nsupdate: ${stderr.trim()}`)
    },
    close,
  }
}

function zoneFile(zone: string, addresses: readonly string[], records: readonly string[]): string {
  return [
    `$ORIGIN ${zone}.`,
    '$TTL 0',
    '@ SOA ns1 hostmaster 1 3600 600 86400 0',
    ...addresses.flatMap((address, index) => [
      `@ NS ns${index + 1}`,
      `ns${index + 1} ${isIPv6(address) ? 'AAAA' : 'A'} ${address}`,
    ]),
    ...records,
    '',
  ].join('\n')
}

function configuration(
  zone: string,
  address: string,
  port: number,
  directory: string,
  keyFile: string,
): string {
  return [
    'options {',
    `  directory "${directory}";`,
    `  listen-on port ${port} { ${isIPv6(address) ? 'none' : address}; };`,
    `  listen-on-v6 port ${port} { ${isIPv6(address) ? address : 'none'}; };`,
    '  pid-file none;',
    `  session-keyfile "${directory}/session.key";`,
    '  recursion no;',
    '  notify no;',
    '  dnssec-validation no;',
    '};',
    'controls { };',
    `include "${keyFile}";`,
    `zone "${zone}" { type primary; file "zone"; allow-update { key "relay"; }; };`,
    '',
  ].join('\n')
}

async function isReady(child: ChildProcess): Promise<boolean> {
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  const ready = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', () => resolve(false))
    // The lines must be read until the end, else the program would wait for its reader.
    createInterface(child.stderr!).on('line', (line) => {
      if (line.endsWith(' running')) resolve(true)
    })
  })
  clearTimeout(timer)
  return ready
}
