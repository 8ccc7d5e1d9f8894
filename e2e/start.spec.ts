// `npm start` as a person runs it: its instructions work as printed, and Ctrl-C leaves nothing behind.
import { type ChildProcess, exec, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { chromiumOptions } from '../tools/browser/chromium.ts'
import { freePort } from '../tools/network/free-port.ts'
import { root } from '../tools/programs/command.ts'
import { curl } from '../tools/programs/curl.ts'
import { expect, test } from './fixtures.ts'

/** Milliseconds for `npm start` or a line that it prints: they end what hangs. */
const START_TIMEOUT_MS = 120_000

interface Started {
  child: ChildProcess
  output: () => string
}

let state: string
let port: number
let started: Started | undefined

test.beforeEach(async () => {
  state = await mkdtemp(path.join(tmpdir(), 'svc-e2e-start-'))
  port = await freePort()
})

test.afterEach(async () => {
  if (started?.child.exitCode === null) process.kill(-started.child.pid!, 'SIGKILL')
  await rm(state, { recursive: true })
})

/** Starts it in a process group of its own, as a shell does: Ctrl-C reaches that group. */
function npmStart(): Started {
  const env = {
    ...process.env,
    SVC_URL: `https://relay.localhost:${port}`,
    IDENTITY_PATH: state,
    INIT_CWD: root,
  }
  const child = spawn(process.execPath, ['scripts/run.mjs', 'scripts/start.ts'], {
    cwd: root,
    env,
    detached: true,
  })
  let output = ''
  const keep = (chunk: Buffer): void => {
    output += chunk
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  started = { child, output: () => output }
  return started
}

/** @returns the processes whose environment names this test's state directory */
function leftovers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`IDENTITY_PATH=${state}`)
      )
    } catch {
      return false
    }
  })
}

/** Runs the printed line that holds `word`, as it is, in a shell. */
async function runPrinted(word: string, env: Record<string, string> = {}): Promise<string> {
  const line =
    started
      ?.output()
      .split('\n')
      .find((one) => one.startsWith('  ') && one.includes(word)) ?? 'false'
  const options = { cwd: root, timeout: START_TIMEOUT_MS, env: { ...process.env, ...env } }
  return (await promisify(exec)(line, options)).stdout
}

test('what it prints works, and Ctrl-C ends it', async ({ playwright }) => {
  const { child, output } = npmStart()
  await expect.poll(output, { timeout: START_TIMEOUT_MS }).toContain('  curl ')
  expect(await runPrinted('curl ')).toBe('Hello, visitor 1, from a handler in Node.\n')

  const caFile = path.join(state, 'ca.pem')
  expect(output()).toContain(caFile)
  const site = `https://hello.relay.localhost:${port}/`
  expect(output()).toContain(site)
  expect(String(await curl(caFile, '--header', 'Accept: text/html', site))).toContain(
    '<h1>Hello, visitor 2</h1>',
  )
  for (const [path, text] of Object.entries({
    '/': '<title>svc</title>',
    '/examples/': '<h1>Examples</h1>',
    '/ca': '<title>svc</title>',
  })) {
    const page = `https://relay.localhost:${port}${path}`
    expect(output()).toContain(`${page}\n`)
    expect(String(await curl(caFile, '--fail', page))).toContain(text)
  }

  const home = await mkdtemp(path.join(state, 'home-'))
  await runPrinted('certutil ', { HOME: home })
  const browser = await playwright.chromium.launch(chromiumOptions(home))
  const page = await browser.newPage()
  await page.goto(site)
  await expect(page.getByRole('heading')).toHaveText('Hello, visitor 3')
  await browser.close()

  expect(leftovers().length).toBeGreaterThan(1)
  process.kill(-child.pid!, 'SIGINT')
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
  expect(output()).not.toMatch(/error/i)
  expect(code).toBe(0)
  expect(leftovers()).toEqual([])
})

test('a port in use is one clear line', async () => {
  const other = createServer().listen(port)
  await once(other, 'listening')
  const { child, output } = npmStart()
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
  other.close()
  expect(code).toBe(1)
  expect(output().trim().split('\n').at(-1)).toBe(
    `npm start: svc-relay: another program listens on port ${port}: end it, or set SVC_URL to an address with another port`,
  )
  expect(leftovers()).toEqual([])
})
