// The packages in runtimes and browsers: `npm run interop -- runtimes`. It writes its section of
// docs/internals/compatibility.md.
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import { ensureCertutil, ensureChromium } from '../../tools/programs/chromium.ts'
import { startTestRelay } from '../../tools/relay/test-relay.ts'
import { PACKAGES, putInPlace } from '../handlers/runtimes.ts'
import { installedConsumer } from '../packages/consumer.ts'
import { packPackages } from '../packages/pack.ts'
import { COMPATIBILITY_PAGE, writeSection } from '../pages/section.ts'
import { findBrowsers, proveBrowser } from './prove-browser.ts'
import { proveRuntime, type Relay } from './prove-runtime.ts'
import { RUNTIMES } from './runtimes.ts'

const WORKS = 'works'

interface Row {
  name: string
  version: string
  sdk: string
  /** Whether it finds names below `localhost`. */
  knowsNames: boolean
  prove(relay: Relay, folder: string): Promise<string>
}

/** @returns whether all runtimes do what is said of them */
export async function proveRuntimes(): Promise<boolean> {
  process.env.CHROMIUM_PATH = ensureChromium()
  ensureCertutil()
  const consumer = await installedConsumer(await packPackages(), [
    `bun@${PACKAGES.bun}`,
    `deno@${PACKAGES.deno}`,
  ])
  try {
    putInPlace(consumer.directory)
    copyFileSync(path.join(import.meta.dirname, 'site.mjs'), path.join(consumer.directory, 'site.mjs'))
    return await proveAll(await allRows(), consumer.directory)
  } finally {
    consumer.remove()
  }
}

async function allRows(): Promise<Row[]> {
  const runtimes = RUNTIMES.map(
    (runtime, index): Row => ({
      ...runtime,
      knowsNames: runtime.sdk === '@svc/sdk-node',
      prove: (relay, folder) => proveRuntime(runtime, folder, relay, `site-${index}`),
    }),
  )
  const browsers = (await findBrowsers()).map(
    (browser): Row => ({
      ...browser,
      sdk: '@svc/sdk-browser',
      knowsNames: true,
      prove: (relay, folder) => proveBrowser(browser, folder, relay),
    }),
  )
  return [...browsers, ...runtimes]
}

interface Result {
  sdk: string
  where: string
  result: string
}

/** Where a package works stands in one line of its own: readers look for the rest. */
function asSection(results: readonly Result[]): string {
  const working = Object.entries(
    Object.groupBy(
      results.filter(({ result }) => result === WORKS),
      ({ sdk }) => sdk,
    ),
  )
  const others = results.filter(({ result }) => result !== WORKS)
  return [
    ...working.map(
      ([sdk, found = []]) => `- ${sdk} works in ${found.map(({ where }) => where).join(', ')}\n`,
    ),
    ...others.map(({ sdk, where, result }) => `- ${sdk} in ${where}: ${result}\n`),
  ].join('')
}

async function proveAll(rows: readonly Row[], folder: string): Promise<boolean> {
  const named = await startTestRelay()
  // Browsers and the SDK for Node know names below `localhost`, and the `fetch` of other runtimes does not.
  const port = await freePort()
  const url = `https://localhost:${port}`
  const relay = await startTestRelay({ port, env: { SVC_URL: url } })
  const results: Result[] = []
  let hasFailed = false
  try {
    for (const row of rows) {
      const at = row.knowsNames ? named : { ...relay, url }
      const result = await row.prove(at, folder).catch(({ message }: Error) => {
        hasFailed = true
        return `**fails**: ${message.replaceAll('\n', ' ')}`
      })
      console.log(`${row.sdk} in ${row.name} ${row.version}: ${result}`)
      results.push({ sdk: `\`${row.sdk}\``, where: `${row.name} ${row.version}`, result })
    }
  } finally {
    await relay.stop()
    await named.stop()
  }
  writeSection(COMPATIBILITY_PAGE, 'runtimes', asSection(results))
  return !hasFailed
}
