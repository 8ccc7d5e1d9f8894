// Runs each test over the browser's own globals and over ours, and reports the tests that only the browser's pass.
import path from 'node:path'
import { type Browser, chromium } from '@playwright/test'
import { build, type Rolldown } from 'vite'
import { ensureChromium } from '../../tools/programs/chromium.ts'
import { root } from '../../tools/programs/command.ts'
import { isMeant } from './differences.ts'
import { serveTests, type TestServer } from './serve.ts'

/** The harness itself gives up after 10 s, or 60 in a test that says that it takes long. */
const PAGE_TIMEOUT_MS = 70_000
/** The harness's status of a test that passed. */
const PASS = 0

export interface FileOutcome {
  file: string
  /** Names of tests that the browser passes over its own globals; of those, the ones that it passes over ours. */
  passed: string[]
  ours: string[]
  /** The tests that our globals do not pass, and are not meant to. */
  meant: string[]
  /** The tests that our globals should pass, with the harness's message. */
  faults: string[]
}

interface Result {
  name: string
  status: number
  message: string | null
}

export async function compare(
  directory: string,
  files: readonly string[],
  onFile: (outcome: FileOutcome) => void = () => {},
): Promise<FileOutcome[]> {
  const server = await serveTests(directory, await bundleGlobals())
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({
    executablePath: ensureChromium(),
    args: [...sandbox, '--disable-gpu', '--disable-background-networking'],
  })
  const outcomes: FileOutcome[] = []
  try {
    for (const file of files) {
      const outcome = await compareFile(browser, server, file)
      onFile(outcome)
      outcomes.push(outcome)
    }
  } finally {
    await browser.close()
    server.close()
  }
  return outcomes
}

async function compareFile(browser: Browser, server: TestServer, file: string): Promise<FileOutcome> {
  const native = await runPage(browser, server.urlOf(file, 'native'))
  const ours = new Map((await runPage(browser, server.urlOf(file, 'ours'))).map((one) => [one.name, one]))
  const passed = native.filter(({ status }) => status === PASS).map(({ name }) => name)
  const failing = passed.filter((name) => ours.get(name)?.status !== PASS)
  const meant = failing.filter((name) => isMeant(file, name))
  const faults = failing
    .filter((name) => !meant.includes(name))
    .map((name) => `${name}: ${ours.get(name)?.message ?? 'it did not run'}`)
  return { file, passed, ours: passed.filter((name) => !failing.includes(name)), meant, faults }
}

/** @returns nothing when the page cannot run the test at all */
async function runPage(browser: Browser, url: string): Promise<Result[]> {
  const page = await browser.newPage()
  try {
    await page.goto(url)
    await page.waitForFunction('window.results !== undefined', undefined, { timeout: PAGE_TIMEOUT_MS })
    return (await page.evaluate('window.results')) as Result[]
  } catch {
    return []
  } finally {
    await page.close()
  }
}

/** Bundles a classic script, which runs before the next one is loaded. */
async function bundleGlobals(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      modulePreload: false,
      lib: {
        entry: path.join(root, 'sdk-browser/src/globals/index.ts'),
        formats: ['iife'],
        name: 'svcGlobals',
        fileName: 'globals',
      },
    },
  })
  const [{ output }] = result as [Rolldown.RolldownOutput]
  return output[0].code
}
