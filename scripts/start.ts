// `npm start`: a relay on this machine with its pages and the examples, and one site published through it from this process.
// The relay's settings (SVC_URL, SNI_PORT, IDENTITY_PATH, ADMIN_TOKEN, …) are honoured; Ctrl-C ends all.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import path from 'node:path'
import { publish, type Site } from '@svc/sdk-node'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { root } from '../tools/programs/command.ts'
import { type RelayProcess, startRelay } from '../tools/relay/process.ts'
import { helloFromNode } from './start/hello-site.ts'
import { printLog } from './start/log-printer.ts'
import { curlLine, displayPath, trustHint } from './start/trust-hint.ts'

/** Milliseconds from Ctrl-C until everything has ended; then it is killed. */
const CLOSE_TIMEOUT_MS = 12_000
/** The relay and its sites come first. */
const LOW_PRIORITY = 10

const url = process.env.SVC_URL || 'https://relay.localhost:4433'
const identityPath = path.resolve(root, process.env.IDENTITY_PATH || '.svc')
const log = printLog(process.env.LOG_LEVEL || 'warn')

let relay: RelayProcess | undefined
let site: Site | undefined
let closing = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, close)

try {
  await start()
} catch (error) {
  if (!closing) fail(error)
}

async function start(): Promise<void> {
  await buildRelayPages({ onBuild: () => console.log("Building the relay's pages and the examples …") })
  console.log(`Starting the relay at ${url} …`)
  relay = await startRelay({
    env: { SVC_URL: url, IDENTITY_PATH: identityPath, LOG_LEVEL: log.level },
    onLog: log.print,
  })
  relay.ended.then(() => closing || fail('the relay has ended'))
  const caFile = path.join(identityPath, 'ca.pem')
  const ca = await readFile(caFile, 'utf8').catch(() => undefined)
  site = await publish({
    relay: url,
    name: 'hello',
    fetch: helloFromNode,
    identityPath: path.join(identityPath, 'hello.json'),
    ca,
  })
  site.addEventListener('error', ({ error }) => console.error(`hello: ${error.message}`))
  announce(site.url, ca === undefined ? undefined : caFile)
  buildDocumentation()
}

/** Builds it beside the relay, which is running already: nobody waits for it, and what is built is not built again. */
function buildDocumentation(): void {
  const program = path.join(root, 'scripts/docs.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  child.on('error', (error) => console.error(`The documentation cannot be built: ${error.message}`))
  process.once('exit', () => child.kill())
}

function announce(siteUrl: string, caFile: string | undefined): void {
  const lines = [
    'The relay is running; Ctrl-C ends it.',
    ...reach(),
    '',
    `  Publish from a page   ${new URL('/', url)}`,
    `  Examples              ${new URL('/examples/', url)}`,
    `  Documentation         ${new URL('/docs/', url)}`,
    `  Published from Node   ${siteUrl}/`,
    `  In a page of yours    import { publish } from '${new URL('/sdk.js', url)}'`,
  ]
  if (caFile !== undefined)
    lines.push(
      `  Its authority (CA)    ${displayPath(caFile)}`,
      `  How to trust it       ${new URL('/ca', url)}`,
    )
  lines.push('', 'See it answer:', '', `  ${curlLine(siteUrl, caFile)}`, '')
  if (caFile !== undefined)
    lines.push(`Browsers show it without a warning once they trust the CA. ${trustHint(caFile)}`, '')
  console.log(['', ...lines].join('\n'))
}

/** A relay on localhost listens for this machine alone, unless BIND_ADDRESS says otherwise. */
function reach(): string[] {
  const address = process.env.BIND_ADDRESS
  if (address) return [`It listens at ${address === '::' ? 'every address of this machine' : address}.`]
  return /(?:^|\.)localhost$/.test(new URL(url).hostname)
    ? ['Only this machine reaches it; BIND_ADDRESS=:: opens it to the network.']
    : ['It listens at every address of this machine.']
}

/** Ends the site first, so that it can still take its lease back from the relay. */
async function close(): Promise<void> {
  if (closing) return
  closing = true
  setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS)
  await site?.close()
  await relay?.stop()
  process.exit(0)
}

function fail(reason: unknown): never {
  console.error(`npm start: ${reason instanceof Error ? reason.message : reason}`)
  // The relay ends with this process.
  process.exit(1)
}
