// A small DNS tree on loopback, from its root down: real nsd serves a signed root and a signed `test.`, which delegates to
// name servers of a test, and real unbound and bind9 resolve and validate from that root. It needs port 53, and so root's rights.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../../tools/network/free-port.ts'
import type { DnsTools } from '../../../tools/programs/dns-tools.ts'
import { endServer, spawnServer } from '../../../tools/programs/server-process.ts'

/** What the parent zone says about a zone, as its operator pastes it there. */
export interface Delegation {
  /** The first label of a name below `test`. */
  label: string
  /** Of its name server `ns1`. */
  address: string
  /** DS in the presentation format, without owner, TTL and class. */
  ds: string
}

type Resolver = 'unbound' | 'named'

export interface DnsTree {
  /** Asks a resolver. @returns the output of dig, with the lines about flags and status */
  resolve(resolver: Resolver, name: string, type: string, ...options: string[]): Promise<string>
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const LOOK_MS = 50
const LOOKS_MAX = 1200

/** @param network three octets of loopback, of which this uses the address 1 */
export async function startDnsTree(
  tools: DnsTools,
  network: string,
  delegations: readonly Delegation[],
): Promise<DnsTree> {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-dns-tree-'))
  const server = `${network}.1`
  const ports = { unbound: await freePort(), named: await freePort() }
  const children: ChildProcess[] = []
  const start = (program: string, args: string[]): void => {
    const env = { ...process.env, ...tools.env }
    children.push(spawnServer(tools.pathOf(program), args, { env, stdio: 'ignore' }))
  }
  const close = async (): Promise<void> => {
    await Promise.all(children.map(endServer))
    rmSync(directory, { recursive: true, force: true })
  }
  const dig = async (at: readonly string[], ...question: string[]): Promise<string> =>
    (await tools.run('dig', [...at, '+tries=1', '+timeout=20', ...question])).output
  const resolve = (resolver: Resolver, ...question: string[]): Promise<string> =>
    dig([`@${HOST}`, '-p', `${ports[resolver]}`], ...question)
  try {
    const ds = await signZone(tools, directory, 'test.', [
      '@ SOA ns hostmaster 1 3600 600 86400 60',
      '@ NS ns',
      `ns A ${server}`,
      ...delegations.flatMap(({ label, address, ds }) => [
        `${label} NS ns1.${label}`,
        `ns1.${label} A ${address}`,
        `${label} DS ${ds}`,
      ]),
    ])
    await signZone(tools, directory, '.', [
      '. SOA ns.test. hostmaster.test. 1 3600 600 86400 60',
      '. NS ns.test.',
      'test. NS ns.test.',
      `ns.test. A ${server}`,
      ds,
    ])
    start('nsd', ['-d', '-c', write(directory, 'nsd.conf', nsdConfiguration(directory, server))])
    write(directory, 'hints', `. 3600 NS ns.test.\nns.test. 3600 A ${server}\n`)
    const named = namedConfiguration(directory, ports.named)
    start('unbound', [
      '-d',
      '-c',
      write(directory, 'unbound.conf', unboundConfiguration(directory, ports.unbound)),
    ])
    start('named', ['-g', '-c', write(directory, 'named.conf', named)])
    await eventually(async () => (await dig([`@${server}`], '.', 'SOA', '+short')).includes('hostmaster'))
    for (const resolver of ['unbound', 'named'] as const)
      await eventually(async () => (await resolve(resolver, 'ns.test', 'A', '+short')).includes(server))
  } catch (error) {
    await close()
    throw error
  }
  return { resolve, close }
}

/** @returns the zone's DS record */
async function signZone(
  tools: DnsTools,
  directory: string,
  zone: string,
  records: readonly string[],
): Promise<string> {
  const keys = path.join(directory, `keys-${zone}`)
  mkdirSync(keys)
  const must = async (program: string, args: string[]): Promise<string> => {
    const { output, code } = await tools.run(program, args, { cwd: keys })
    if (code !== 0) throw new Error(`${program}: ${output}`)
    return output
  }
  const made = await must('dnssec-keygen', ['-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', zone])
  const key = made.trim()
  const file = write(
    keys,
    'zone',
    [`$ORIGIN ${zone}`, '$TTL 60', ...records, `$INCLUDE ${key}.key`, ''].join('\n'),
  )
  await must('dnssec-signzone', ['-z', '-o', zone, '-f', path.join(directory, `signed-${zone}`), file, key])
  write(directory, `anchor-${zone}`, readFileSync(path.join(keys, `${key}.key`), 'utf8'))
  return await must('dnssec-dsfromkey', ['-2', path.join(keys, `${key}.key`)])
}

function nsdConfiguration(directory: string, address: string): string {
  return [
    'server:',
    `  ip-address: ${address}@53`,
    '  username: ""',
    '  chroot: ""',
    `  zonesdir: "${directory}"`,
    '  database: ""',
    '  pidfile: ""',
    `  zonelistfile: "${directory}/nsd-zones"`,
    `  xfrdfile: "${directory}/nsd-xfrd"`,
    `  xfrdir: "${directory}"`,
    '  server-count: 1',
    'remote-control:',
    '  control-enable: no',
    ...['.', 'test.'].flatMap((zone) => ['zone:', `  name: "${zone}"`, `  zonefile: "signed-${zone}"`]),
    '',
  ].join('\n')
}

function unboundConfiguration(directory: string, port: number): string {
  return [
    'server:',
    `  directory: "${directory}"`,
    '  username: ""',
    '  chroot: ""',
    '  pidfile: ""',
    '  use-syslog: no',
    `  interface: ${HOST}`,
    `  port: ${port}`,
    '  do-ip6: no',
    '  do-not-query-localhost: no',
    // `test.` would else be answered by the resolver itself (RFC 6761 §6.2).
    '  local-zone: "test." nodefault',
    // The resolver answers other questions from the proofs that it has (RFC 8198), as bind9 does.
    '  aggressive-nsec: yes',
    // It asks in random case, and takes only answers in that case.
    '  use-caps-for-id: yes',
    '  trust-anchor-signaling: no',
    `  root-hints: "${directory}/hints"`,
    `  trust-anchor-file: "${directory}/anchor-."`,
    'remote-control:',
    '  control-enable: no',
    '',
  ].join('\n')
}

function namedConfiguration(directory: string, port: number): string {
  const anchor = readFileSync(path.join(directory, 'anchor-.'), 'utf8')
  const [, key] = /DNSKEY 257 3 13 (.*)/.exec(anchor) ?? []
  return [
    'options {',
    `  directory "${directory}"; pid-file none; session-keyfile "${directory}/session.key";`,
    `  listen-on port ${port} { ${HOST}; }; listen-on-v6 { none; };`,
    '  recursion yes; dnssec-validation yes; empty-zones-enable no;',
    '};',
    'controls { };',
    `trust-anchors { "." static-key 257 3 13 "${key}"; };`,
    'zone "." { type hint; file "hints"; };',
    '',
  ].join('\n')
}

function write(directory: string, name: string, content: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, content)
  return file
}

async function eventually(isDone: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isDone()); looks++) {
    if (looks === LOOKS_MAX) throw new Error('the DNS tree does not answer')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
