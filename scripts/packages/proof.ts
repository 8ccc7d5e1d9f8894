// `npm run interop -- packages`: what a user can do with the tarballs alone, in folders outside the checkout. It installs them and the
// bundlers with npm, type-checks programs, runs both commands by npx on the oldest Node and the pinned one, and builds a page with
// each bundler, which publishes in Chromium. It prints a line for each proof; a proof that fails fails the command.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { chromiumOptions, createHome } from '../../tools/browser/chromium.ts'
import { bundle, weigh } from '../../tools/bundler/bundle.ts'
import { ensureCertutil, ensureChromium } from '../../tools/programs/chromium.ts'
import { root } from '../../tools/programs/command.ts'
import { ensureNode, OLDEST_NODE } from '../../tools/programs/node-version.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'
import { BUNDLERS, buildPage } from './bundlers.ts'
import { checkTarball } from './check.ts'
import { type CommandLine, pathWith, proveExpose, proveInstaller, startPackagedRelay } from './commands.ts'
import { type Consumer, installedConsumer } from './consumer.ts'
import { packPackages } from './pack.ts'
import { provePage } from './prove-page.ts'
import { proveStarter } from './prove-starter.ts'
import { proveUdp } from './prove-udp.ts'
import { STARTERS } from './starters.ts'
import { typeCheck } from './type-check.ts'

/** The part by which a page made of the tarballs may weigh another amount than one made of the sources. */
const WEIGHT_TOLERANCE = 0.01
/** The types that programs for Node need. */
const TYPES_OF_NODE = '@types/node@26.6.6'
/** A relay of which each part is on: two processes, and UDP ports, whose tunnels are another process. */
const FULL_RELAY = { SVC_WORKERS: '2', UDP_ENABLED: 'true', MIN_PORT: '26000', MAX_PORT: '26050' }

let failures = 0

/** @returns whether everything was proved */
export async function provePackages(): Promise<boolean> {
  process.env.CHROMIUM_PATH = ensureChromium()
  ensureCertutil()
  const tarballs = await packPackages()
  for (const tarball of tarballs)
    await prove(`${tarball.name}: publint, arethetypeswrong`, async () => noneOf(await checkTarball(tarball)))
  for (const starter of STARTERS)
    await prove(`a page of ${starter.name}`, () => proveStarter(starter, tarballs))
  const bundlers = BUNDLERS.flatMap(({ packages }) => packages)
  const consumer = await installedConsumer(tarballs, [TYPES_OF_NODE, ...bundlers])
  try {
    for (const { name, output } of await typeCheck(consumer))
      await prove(`types: ${name}`, async () => noneOf(output === '' ? [] : [output]))
    await prove('a page that only imports publish', () => proveWeight(consumer))
    await proveCommands(consumer, OLDEST_NODE, ensureNode(OLDEST_NODE))
    await proveCommands(consumer, process.versions.node, process.execPath, (relay) =>
      provePages(consumer, relay),
    )
  } finally {
    consumer.remove()
  }
  return failures === 0
}

async function prove(name: string, run: () => Promise<string>): Promise<void> {
  try {
    console.log(`✓ ${name.padEnd(48)}${await run()}`)
  } catch (error) {
    failures += 1
    console.log(`✗ ${name}\n${(error as Error).message}`)
  }
}

async function noneOf(findings: readonly string[]): Promise<string> {
  if (findings.length > 0) throw new Error(findings.join('\n'))
  return 'no findings'
}

async function proveWeight({ directory }: Consumer): Promise<string> {
  const folder = path.join(directory, 'weight')
  mkdirSync(folder)
  const entry = path.join(folder, 'entry.js')
  writeFileSync(entry, "import { publish } from '@svc/sdk-browser'\nObject.assign(globalThis, { publish })\n")
  const [ours, theirs] = await Promise.all(
    [path.join(root, 'scripts/size/publish-entry.ts'), entry].map(eagerGzip),
  )
  const line = `${theirs} bytes of gzip at once; npm run size: ${ours}`
  if (Math.abs(theirs! / ours! - 1) > WEIGHT_TOLERANCE) throw new Error(line)
  return line
}

async function eagerGzip(entry: string): Promise<number> {
  const chunks = weigh(await bundle(entry)).filter(({ eager }) => eager)
  return chunks.reduce((sum, { gzip }) => sum + gzip, 0)
}

async function proveCommands(
  { directory }: Consumer,
  version: string,
  node: string,
  more: (relay: TestRelay) => Promise<void> = async () => {},
): Promise<void> {
  const of = (name: string): string[] => ['npx', '--no-install', name]
  const line: CommandLine = { cwd: directory, of, env: pathWith(node) }
  await prove(`Node ${version}: npx svc-relay`, async () => {
    const relay = await startPackagedRelay(line, FULL_RELAY)
    try {
      await prove(`Node ${version}: scripts that install svc`, () => proveInstaller(relay))
      await prove(`Node ${version}: npx svc expose, two workers`, () => proveExpose(line, relay))
      await prove(`Node ${version}: npx svc expose --udp`, () => proveUdp(line, relay))
      await more(relay)
    } finally {
      await relay.stop()
    }
    return 'started, and ended when it was asked to'
  })
}

async function provePages(consumer: Consumer, relay: TestRelay): Promise<void> {
  const home = await createHome(relay.caFile)
  const browser = await chromium.launch(chromiumOptions(home.path))
  const context = await browser.newContext()
  for (const bundler of BUNDLERS)
    await prove(`${[bundler.name, ...bundler.packages.slice(0, 1)].at(-1)}: a page`, async () => {
      const built = await buildPage(bundler, consumer)
      const { scripts, gzip, late } = await provePage({ name: bundler.name, ...built }, context, relay)
      const early = `${scripts} scripts, ${(gzip / 1024).toFixed(1)} KB of gzip until it is online`
      return `${early}; ${late} more with the first WebSocket`
    })
  await browser.close()
  await home.remove()
}
