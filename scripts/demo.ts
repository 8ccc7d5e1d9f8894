// `npm run demo`: a relay of its own, a browser of its own that trusts it, and a tour through both. Nothing of them stays.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { BrowserContext } from '@playwright/test'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { freePort } from '../tools/network/free-port.ts'
import { type RelayProcess, startRelay } from '../tools/relay/process.ts'
import { openBrowser, requireBrowser } from './demo/browser.ts'
import { Narrator } from './demo/narrator.ts'
import { playTour } from './demo/tour.ts'
import { printLog } from './start/log-printer.ts'

const USAGE = `Usage: npm run demo [-- --headless]

It starts a relay, and a browser with a fresh profile that trusts it, and shows both: a tab publishes a note, a visitor opens
it, and the relay shows the bytes that it carried. Ctrl-C, or closing the browser, ends it all and leaves nothing behind.

  --headless  plays without a window and without pauses, and ends by itself
  --help      shows this text

CHROMIUM_PATH names the browser, where it is neither Chromium, Chrome nor Edge at its usual place.
`
/** Milliseconds from Ctrl-C until everything has ended; then it is killed. */
const CLOSE_TIMEOUT_MS = 12_000

const isHeadless = readArguments()
const folder = await mkdtemp(path.join(tmpdir(), 'svc-demo-'))
let relay: RelayProcess | undefined
let browser: BrowserContext | undefined
let closing: Promise<void> | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))

try {
  await run()
} catch (error) {
  // What is shut down breaks what it was doing.
  if (closing === undefined) {
    console.error(`npm run demo: ${error instanceof Error ? error.message : error}`)
    await end(1)
  }
}

async function run(): Promise<void> {
  const executablePath = requireBrowser(isHeadless)
  await buildRelayPages({ onBuild: () => console.log("Building the relay's pages and the examples …") })
  const url = `https://relay.localhost:${await freePort()}`
  const identityPath = path.join(folder, 'relay')
  const log = printLog('error')
  // Sites then share the key of the relay's certificate, which the browser knows.
  const ofSites = { SITE_CERTIFICATES: 'off' }
  const env = { SVC_URL: url, IDENTITY_PATH: identityPath, LOG_LEVEL: log.level, SNI_PORT: '', ...ofSites }
  relay = await startRelay({ env, onLog: log.print })
  relay.ended.then(() => closing ?? end(1, 'the relay has ended'))
  browser = await openBrowser({ executablePath, isHeadless, folder, identityPath })
  browser.on('close', () => void end(0))
  const narrator = new Narrator({ isHurried: isHeadless, print: (line) => console.log(line) })
  await playTour(browser, url, narrator)
  if (isHeadless) return await end(0)
  await narrator.say(
    browser.pages()[0]!,
    'The browser is yours now. Close it, or press Ctrl-C, and nothing of it stays.',
  )
}

function end(code: number, reason?: string): Promise<void> {
  closing ??= close(code, reason)
  return closing
}

async function close(code: number, reason: string | undefined): Promise<void> {
  if (reason !== undefined) console.error(`npm run demo: ${reason}`)
  setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS)
  await browser?.close().catch(() => {})
  await relay?.stop()
  // A browser that was just closed may still write to its profile.
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(code)
}

function readArguments(): boolean {
  try {
    const { values } = parseArgs({
      options: { headless: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    })
    if (!values.help) return values.headless
  } catch {
    console.error(USAGE)
    process.exit(2)
  }
  console.log(USAGE)
  process.exit(0)
}
