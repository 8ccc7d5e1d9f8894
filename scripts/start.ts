// `npm start`: a relay on this machine with its pages and the examples, and one site published through it from this process. It opens
// a page by plain HTTP that leads past the browser's warning. The relay's settings (SVC_URL, SNI_PORT, IDENTITY_PATH,
// ADMIN_TOKEN, …) are honoured; Ctrl-C ends all.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import path from 'node:path'
import { publish, type Site } from '@svc/sdk-node'
import { openBrowser } from '../sdk-node/src/cli/tui/open-browser.ts'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { root } from '../tools/programs/command.ts'
import { type RelayProcess, startRelay } from '../tools/relay/process.ts'
import { announcement } from './start/announcement.ts'
import { readArguments, USAGE } from './start/arguments.ts'
import { CHECK_PATH, helloFromNode } from './start/hello-site.ts'
import { type LanAddress, lanAddress, lanHost } from './start/lan/address.ts'
import { type Responder, startResponder } from './start/lan/multicast-responder.ts'
import { resolveHere } from './start/lan/own-names.ts'
import { printLog } from './start/log-printer.ts'
import { type StartPage, serveStartPage } from './start/start-page.ts'
import { quote } from './start/trust-hint.ts'

/** Milliseconds from Ctrl-C until everything has ended; then it is killed. */
const CLOSE_TIMEOUT_MS = 12_000
/** The relay and its sites come first. */
const LOW_PRIORITY = 10
/** What TLS says of a browser that does not trust the CA yet: the start page notices that, and leads on. */
const UNTRUSTED = /alert (?:bad certificate|certificate unknown|unknown ca)/
/** Of `https:` in the relay's URL. */
const HTTPS_PORT = 443

const { opens, ...given } = readArguments() ?? usage()
const lan = given.lan ? await lanAddress(given.address).catch(fail) : undefined
const url = process.env.SVC_URL || `https://${lan === undefined ? 'relay.localhost' : lanHost()}:4433`
// A CA is for one host: that of the network does not take the place of the other.
const identityPath = path.resolve(
  root,
  process.env.IDENTITY_PATH || (lan === undefined ? '.svc' : '.svc/lan'),
)
const log = printLog(process.env.LOG_LEVEL || 'warn')

let relay: RelayProcess | undefined
let site: Site | undefined
let startPage: StartPage | undefined
let responder: Responder | undefined
let closing = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, close)

try {
  await start()
} catch (error) {
  if (!closing) fail(error)
}

async function start(): Promise<void> {
  const pages = await buildRelayPages({
    onBuild: () => console.log("Building the relay's pages and the examples …"),
  })
  console.log(`Starting the relay at ${url} …`)
  if (lan !== undefined) responder = await joinNetwork(lan)
  const env = { SVC_URL: url, IDENTITY_PATH: identityPath, LOG_LEVEL: log.level }
  relay = await startRelay({
    env: lan === undefined ? env : { ...env, BIND_ADDRESS: lan.address },
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
  site.addEventListener('error', ({ error }) => {
    if (!UNTRUSTED.test(error.message)) console.error(`hello: ${error.message}`)
  })
  startPage = ca === undefined ? undefined : await openStartPage(site.url, ca, caFile, pages)
  const begin = startPage?.url ?? new URL('/', url).href
  const shown = ca === undefined ? undefined : { file: caFile, pem: ca }
  const { lanUrl } = startPage ?? {}
  console.log(announcement({ url, begin, site: site.url, ca: shown, lan, lanUrl }))
  if (opens) openBrowser(begin)
  buildDocumentation()
}

/** Lets devices of the network, and this process, find the relay by its name. */
async function joinNetwork(network: LanAddress): Promise<Responder> {
  const { hostname: host } = new URL(url)
  if (!host.endsWith('.local'))
    throw new Error(`--lan needs a name below local, which phones find; SVC_URL has ${host}`)
  resolveHere(host, network.address)
  return await startResponder({ ...network, host, onError: fail })
}

/** Its port is the one after the relay's, so that it stays the same. */
async function openStartPage(siteUrl: string, ca: string, caFile: string, pages: string): Promise<StartPage> {
  const relayUrl = new URL(url)
  return await serveStartPage({
    relay: relayUrl,
    secure: new URL(CHECK_PATH, siteUrl).href,
    ca,
    file: quote(caFile),
    pages,
    port: Number(relayUrl.port || HTTPS_PORT) + 1,
    lan: lan?.address,
  })
}

/** Builds it beside the relay, which is running already: nobody waits for it, and what is built is not built again. */
function buildDocumentation(): void {
  const program = path.join(root, 'scripts/docs.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  child.on('error', (error) => console.error(`The documentation cannot be built: ${error.message}`))
  process.once('exit', () => child.kill())
}

/** Ends the site first, so that it can still take its lease back from the relay. */
async function close(): Promise<void> {
  if (closing) return
  closing = true
  setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS)
  startPage?.close()
  await responder?.close()
  await site?.close()
  await relay?.stop()
  process.exit(0)
}

function fail(reason: unknown): never {
  console.error(`npm start: ${reason instanceof Error ? reason.message : reason}`)
  // The relay ends with this process.
  process.exit(1)
}

function usage(): never {
  console.log(USAGE)
  process.exit(process.argv.includes('--help') ? 0 : 2)
}
