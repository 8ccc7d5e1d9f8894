// Starts Debian's unbound, a real DNS resolver, whose answers a test chooses.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../network/free-port.ts'
import { type DebianPrograms, findDebianPrograms } from './debian-packages.ts'
import { endServer, spawnServer } from './server-process.ts'

export interface UnboundOptions {
  /** Names that resolve to 127.0.0.1, with all names below them. */
  hosts?: readonly string[]
  /** Servers of zones, each as `ADDRESS@PORT`. */
  zones?: Readonly<Record<string, string>>
  /** Authoritative servers of zones, each as `ADDRESS@PORT`, whose delegations are followed. */
  delegating?: Readonly<Record<string, string>>
  /** DS records in the presentation format: what is below them has to be signed. @default none: nothing is validated */
  trustAnchors?: readonly string[]
}

export interface Unbound {
  /** `127.0.0.1:PORT`. */
  address: string
  port: number
  /** Adds a record in the presentation format, such as `_acme-challenge.relay.test. 0 IN TXT "value"`. */
  add(record: string): void
  /** Removes all records of a name that {@link add} added. */
  remove(name: string): void
  close(): Promise<void>
}

const PACKAGES = [
  'unbound',
  'libevent-2.1-7',
  'libnghttp2-14',
  'libprotobuf-c1',
  'libpython3.11',
  'libpython3.11-minimal',
  'libpython3.11-stdlib',
] as const
/** Milliseconds of one look whether the server answers, and the number of looks. */
const LOOK_MS = 50
const LOOKS_MAX = 1200

/** @returns undefined where the package cannot be had */
export function findUnbound(): DebianPrograms | undefined {
  return findDebianPrograms('unbound', PACKAGES)
}

/** Rejects where unbound cannot be had: a test asks {@link findUnbound} first, and is skipped. */
export async function startUnbound(options: UnboundOptions = {}): Promise<Unbound> {
  const programs = findUnbound()
  if (programs === undefined) throw new Error('unbound cannot be had: it needs apt (Debian unbound)')
  const env = { ...process.env, ...programs.env }
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-unbound-'))
  const port = await freePort()
  const config = path.join(directory, 'unbound.conf')
  writeFileSync(config, configuration(port, directory, options))
  const child = spawnServer(programs.pathOf('unbound'), ['-d', '-c', config], { env, stdio: 'ignore' })
  const control = (...args: string[]): boolean => {
    const program = programs.pathOf('unbound-control')
    return spawnSync(program, ['-q', '-c', config, ...args], { env, timeout: 10_000 }).status === 0
  }
  const close = async (): Promise<void> => {
    await endServer(child)
    rmSync(directory, { recursive: true, force: true })
  }
  for (let looks = 0; !control('status'); looks++) {
    if (looks === LOOKS_MAX || child.exitCode !== null) {
      await close()
      throw new Error('unbound does not answer')
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return {
    address: `127.0.0.1:${port}`,
    port,
    add: (record) => must(control('local_data', ...record.split(' ')), `unbound does not take ${record}`),
    remove: (name) => must(control('local_data_remove', name), `unbound does not remove ${name}`),
    close,
  }
}

/** Nothing is cached, so that a changed record shows at once. */
function configuration(
  port: number,
  directory: string,
  { hosts = [], zones = {}, delegating = {}, trustAnchors = [] }: UnboundOptions,
): string {
  return [
    'server:',
    `  directory: "${directory}"`,
    '  username: ""',
    '  chroot: ""',
    '  pidfile: ""',
    '  use-syslog: no',
    '  interface: 127.0.0.1',
    `  port: ${port}`,
    '  do-not-query-localhost: no',
    `  module-config: "${trustAnchors.length > 0 ? 'validator ' : ''}iterator"`,
    ...trustAnchors.map((anchor) => `  trust-anchor: "${anchor}"`),
    '  cache-max-ttl: 0',
    '  cache-max-negative-ttl: 0',
    ...hosts.flatMap((host) => [
      `  local-zone: "${host}." redirect`,
      `  local-data: "${host}. A 127.0.0.1"`,
      // Else the name would have the answer of the names below the host.
      `  local-zone: "_acme-challenge.${host}." static`,
    ]),
    ...Object.keys({ ...zones, ...delegating }).map((zone) => `  local-zone: "${zone}." transparent`),
    'remote-control:',
    '  control-enable: yes',
    '  control-use-cert: no',
    `  control-interface: ${directory}/control`,
    ...Object.entries(zones).flatMap(([zone, server]) => [
      'forward-zone:',
      `  name: "${zone}."`,
      `  forward-addr: ${server}`,
    ]),
    ...Object.entries(delegating).flatMap(([zone, server]) => [
      'stub-zone:',
      `  name: "${zone}."`,
      `  stub-addr: ${server}`,
    ]),
    '',
  ].join('\n')
}

function must(done: boolean, otherwise: string): void {
  if (!done) throw new Error(otherwise)
}
