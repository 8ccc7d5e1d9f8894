// TLS and QUIC with implementations that are not ours: `npm run interop [-- ROW…] [--json | --markdown]`. The row `debian`,
// the packages in Debian systems, has to be named. A cell that fails fails the command; a client that is not there is a row
// that was skipped.
// `npm run interop -- packages` proves the packages with bundlers and versions of Node instead, `-- executables` what
// `npm run binaries` made, with emulators and readers that are not ours, and `-- dns-providers` external DNS providers, with
// moto, `-- acme` certificates by ACME, with a current pebble, `-- applications` what real software makes of `svc expose`, and
// `-- handlers` what a `fetch` handler finds at `publish` and at other runtimes, `-- runtimes` the packages in other runtimes and
// in browsers; all seven need a registry.
import '../tools/whole-tests.ts'
import { parseArgs } from 'node:util'
import { PEERS } from '../sdk-node/test/interop/peers.ts'
import { type PeerRow, runPeers } from '../sdk-node/test/interop/rows.ts'
import { CLIENTS } from '../tls/test/interop/clients/index.ts'
import { failures, type Row, runMatrix } from '../tls/test/interop/matrix.ts'
import { asMarkdown, asText, summaryOf } from '../tls/test/interop/print.ts'
import { NAME as DEBIAN, type DebianRow, runDebian } from './debian/debian.ts'

type Rows = [tls: Row[], quic: PeerRow[], debian: DebianRow[]]

/** The word in place of rows that asks for the proof of the packages. */
const PACKAGES = 'packages'
/** The word that asks for the proof of the executables. */
const EXECUTABLES = 'executables'
/** The word that asks for the proof of certificates by ACME. */
const ACME = 'acme'
/** The word that asks for the proof of external DNS providers. */
const DNS_PROVIDERS = 'dns-providers'
/** The word that asks for real applications behind `svc expose`; names of applications may follow. */
const APPLICATIONS = 'applications'
/** The word that asks for features of handlers beside other runtimes. */
const HANDLERS = 'handlers'
/** The word that asks for the packages in runtimes and browsers. */
const RUNTIMES = 'runtimes'
const NAMES = [...[...CLIENTS, ...PEERS].map(({ name }) => name), DEBIAN]
if (process.argv.slice(2).join(' ') === PACKAGES) {
  const { provePackages } = await import('./packages/proof.ts')
  process.exit((await provePackages()) ? 0 : 1)
}
if (process.argv.slice(2).join(' ') === EXECUTABLES) {
  const { proveExecutables } = await import('./binaries/proofs/rows.ts')
  process.exit((await proveExecutables()) ? 0 : 1)
}
if (process.argv.slice(2).join(' ') === DNS_PROVIDERS) {
  const { proveDnsProviders } = await import('./dns-providers.ts')
  process.exit((await proveDnsProviders()) ? 0 : 1)
}
if (process.argv.slice(2).join(' ') === ACME) {
  const { proveAcme } = await import('./acme.ts')
  process.exit((await proveAcme()) ? 0 : 1)
}
if (process.argv.slice(2).join(' ') === HANDLERS) {
  const { proveHandlers } = await import('./handlers/proof.ts')
  process.exit((await proveHandlers()) ? 0 : 1)
}
if (process.argv.slice(2).join(' ') === RUNTIMES) {
  const { proveRuntimes } = await import('./runtimes/proof.ts')
  process.exit((await proveRuntimes()) ? 0 : 1)
}
if (process.argv[2] === APPLICATIONS) {
  const { proveApplications } = await import('./applications/proof.ts')
  process.exit((await proveApplications(process.argv.slice(3))) ? 0 : 1)
}
const { clients, peers, hasDebian, print } = readArguments() ?? usage()
// The clients lead process groups of their own, and are ended when this process exits: a signal must be an exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
// Standard output is the table's alone.
const onRow = (row: Row | PeerRow | DebianRow): void => console.error(summaryOf(row))
const tls = await runMatrix(clients, onRow)
const quic = await runPeers(peers, onRow)
const debian = hasDebian ? [await runDebian(onRow)] : []
const rows = [...tls, ...quic, ...debian]
console.error()
console.log(print(tls, quic, debian))
const failed = failures(rows)
for (const failure of failed) console.error(`\n✗ ${failure}`)
process.exitCode = failed.length > 0 || rows.every(({ version }) => version === undefined) ? 1 : 0

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, markdown: { type: 'boolean' } },
    })
    const isWanted = ({ name }: { name: string }) => positionals.length === 0 || positionals.includes(name)
    if (positionals.some((name) => !NAMES.includes(name)) || (values.json && values.markdown))
      return undefined
    const print = values.json
      ? asJson
      : (...rows: Rows) => inWords(values.markdown ? asMarkdown : asText, ...rows)
    return {
      clients: CLIENTS.filter(isWanted),
      peers: PEERS.filter(isWanted),
      hasDebian: positionals.includes(DEBIAN),
      print,
    }
  } catch {
    return undefined
  }
}

function asJson(...rows: Rows): string {
  return JSON.stringify(rows.flat(), undefined, 2)
}

function inWords(
  matrix: (rows: readonly Row[]) => string,
  tls: Row[],
  quic: PeerRow[],
  debian: DebianRow[],
): string {
  const tables = tls.length > 0 ? [matrix(tls)] : []
  return [
    ...tables,
    ...quic.map((row) => `QUIC, client and server: ${summaryOf(row)}`),
    ...debian.map((row) => `Packages and image: ${summaryOf(row)}`),
    ...debian.flatMap(({ cells }) =>
      Object.entries(cells).map(([step, cell]) => `  ${step}: ${cell?.status}`),
    ),
  ].join('\n')
}

function usage(): never {
  console.error('Usage: npm run interop [-- ROW…] [--json | --markdown]')
  console.error(`ROW is one of ${NAMES.join(', ')}`)
  console.error(
    `or npm run interop -- ${PACKAGES}, ${EXECUTABLES}, ${DNS_PROVIDERS}, ${ACME}, ${HANDLERS} or ${RUNTIMES}, alone, or ${APPLICATIONS} [NAME…]`,
  )
  process.exit(2)
}
