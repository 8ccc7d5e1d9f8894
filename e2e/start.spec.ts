// `npm start` and `npm run demo` as a person runs them: what they print works, and Ctrl-C leaves nothing behind.

import { type ChildProcess, exec, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { chromiumOptions, createHome } from '../tools/browser/chromium.ts'
import { freePort } from '../tools/network/free-port.ts'
import { root } from '../tools/programs/command.ts'
import { curl } from '../tools/programs/curl.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { WIDTHS_PX } from './support/relay-page.ts'

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
function run(script: string, args: string[] = [], settings: Record<string, string> = {}): Started {
  const env = {
    ...process.env,
    SVC_URL: `https://relay.localhost:${port}`,
    IDENTITY_PATH: state,
    TMPDIR: state,
    INIT_CWD: root,
    ...settings,
  }
  const child = spawn(process.execPath, ['scripts/run.mjs', `scripts/${script}.ts`, ...args], {
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

/** Ends it as Ctrl-C does. @returns its exit code */
async function interrupt(child: ChildProcess): Promise<number> {
  process.kill(-child.pid!, 'SIGINT')
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
  return code
}

/** The page that is printed first. */
function startPageOf(output: string): string {
  return /Begin here +(http:\S+)/.exec(output)?.[1] ?? ''
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
  const { child, output } = run('start')
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
  expect(await interrupt(child)).toBe(0)
  expect(output()).not.toMatch(/error/i)
  expect(leftovers()).toEqual([])
})

test('its first page explains the warning, and leads on once the browser trusts the relay', async ({
  playwright,
}, info) => {
  const { child, output } = run('start', ['--no-open'])
  await expect.poll(() => startPageOf(output()), { timeout: START_TIMEOUT_MS }).not.toBe('')
  const start = startPageOf(output())
  expect(start).toBe(`http://localhost:${port + 1}/`)
  const caFile = path.join(state, 'ca.pem')

  const wary = await createHome()
  const untrusting = await playwright.chromium.launch(chromiumOptions(wary.path))
  const page = await untrusting.newPage()
  await page.goto(start)
  await expect(page.getByRole('status')).toHaveText(/does not trust it yet/)
  await expect(page.getByRole('heading', { name: 'In Chrome on Linux' })).toBeVisible()
  await expect(page.getByText(`-n svc -i ${caFile}`)).toBeVisible()
  await expect(page.getByText('for no other name in the world')).toBeVisible()
  await expectFits({ start: page }, info, WIDTHS_PX)
  await expectAccessible(page)
  expect(String(await curl(caFile, '--fail', `${start}ca.pem`))).toBe(readFileSync(caFile, 'utf8'))
  // A stranger's name that leads to this machine gets nothing.
  await expect(curl(caFile, '--fail', '-H', 'Host: evil.example', start)).rejects.toThrow('421')

  const trustful = await createHome(caFile)
  const trusting = await playwright.chromium.launch(chromiumOptions(trustful.path))
  const other = await trusting.newPage()
  await other.goto(start)
  await expect(other).toHaveURL(`https://relay.localhost:${port}/`)
  await expect(other.getByRole('button', { name: 'Publish' })).toBeVisible()
  await trusting.close()

  expect(await interrupt(child)).toBe(0)
  await expect(page.getByRole('status')).toHaveText(/The relay has ended/)
  await untrusting.close()
  await Promise.all([wary.remove(), trustful.remove()])
  // That a browser refused the certificate is no news.
  expect(output()).not.toMatch(/handshake/)
})

wholeOnly(test, 'variant')(
  '--lan: a phone finds the relay by its name below local, and what is published there',
  async ({ playwright }) => {
    const host = `svc-${port}.local`
    const url = `https://${host}:${port}`
    const { child, output } = run('start', ['--lan', '--address', '127.0.0.1'], { SVC_URL: url })
    await expect.poll(output, { timeout: START_TIMEOUT_MS }).toContain('  curl ')
    expect(await runPrinted('curl ')).toBe('Hello, visitor 1, from a handler in Node.\n')
    const caFile = path.join(state, 'ca.pem')
    const { fingerprint256 } = new X509Certificate(readFileSync(caFile))
    expect(output()).toContain(`  http://127.0.0.1:${port + 1}/\n`)
    expect(output()).toContain(fingerprint256)

    const home = await createHome(caFile)
    const options = chromiumOptions(home.path)
    const rules = `--host-resolver-rules=MAP ${host} 127.0.0.1, MAP *.${host} 127.0.0.1`
    const browser = await playwright.chromium.launch({ ...options, args: [...options.args!, rules] })
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port + 1}/`)
    await expect(page).toHaveURL(`${url}/`)
    await page.getByRole('button', { name: 'Publish' }).click()
    await expect(page.getByRole('img', { name: /QR code/ })).toBeVisible()
    const visitor = await browser.newPage()
    await visitor.goto(`${await page.locator('.address a').textContent()}`)
    await expect(visitor.getByRole('heading')).toHaveText('Hello from a browser tab')
    await visitor.goto(`${url}/ca`)
    await expect(visitor.getByText('something in this network alone')).toBeVisible()
    await browser.close()
    await home.remove()
    expect(await interrupt(child)).toBe(0)
    expect(leftovers()).toEqual([])
  },
)

test('a port in use is one clear line', async () => {
  const other = createServer().listen(port)
  await once(other, 'listening')
  const { child, output } = run('start')
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
  other.close()
  expect(code).toBe(1)
  expect(output().trim().split('\n').at(-1)).toBe(
    `npm start: svc-relay: another program listens on port ${port}: end it, or set SVC_URL to an address with another port`,
  )
  expect(leftovers()).toEqual([])
})

test('the demo plays to its end, and leaves nothing behind', async () => {
  const { child, output } = run('demo', ['--headless'])
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })
  expect(output()).toMatch(/3\. The tab is a web server now: https:\/\/[\w-]+\.relay\.localhost:\d+\n/)
  // A record of TLS: its type, and version 3.3.
  expect(output()).toMatch(/cannot read them: 17 03 03 /)
  expect(output()).toContain('7. The note has changed')
  expect(code).toBe(0)
  expect(leftovers()).toEqual([])
  expect(readdirSync(state).filter((name) => name.startsWith('svc-demo-'))).toEqual([])
})

wholeOnly(test, 'variant')(
  'Ctrl-C ends the demo in the middle, with its browser and its profile',
  async () => {
    const { child, output } = run('demo', ['--headless'])
    await expect.poll(output, { timeout: START_TIMEOUT_MS, intervals: [20] }).toContain('1. This is')
    expect(await interrupt(child)).toBe(0)
    expect(output()).not.toMatch(/demo: /)
    expect(leftovers()).toEqual([])
    expect(readdirSync(state).filter((name) => name.startsWith('svc-demo-'))).toEqual([])
  },
)
