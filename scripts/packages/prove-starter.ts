// A project of a framework takes our tarballs, and builds a page that imports `publish`.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runCommand } from '../../tools/programs/command.ts'
import { npmCommand } from '../../tools/programs/npm.ts'
import type { Tarball } from './pack.ts'
import type { Starter } from './starters.ts'

/** Longest that npm may take for one project, in milliseconds. */
const INSTALL_TIMEOUT_MS: number = 5 * 60_000
/** Longest that a build may take, in milliseconds. */
const BUILD_TIMEOUT_MS: number = 3 * 60_000
/** The packages that a page needs. */
const FOR_PAGES = [
  '@svc/sdk-browser',
  '@svc/sdk-core',
  '@svc/protocol',
  '@svc/yamux',
  '@svc/tls',
  '@svc/payment',
]
/** A page with the SDK has this text in its scripts. */
const TEXT_OF_SDK = '/sdk/register/challenge'
/** No framework reports how it is used. */
const WITHOUT_REPORTS = {
  NEXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
  NG_CLI_ANALYTICS: 'false',
}

/** @throws Error with what npm said, such as ERESOLVE, or the build */
export async function proveStarter(
  starter: Starter,
  tarballs: readonly Pick<Tarball, 'name' | 'file'>[],
): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-starter-'))
  try {
    write(directory, starter)
    const files = tarballs.filter(({ name }) => FOR_PAGES.includes(name)).map(({ file }) => file)
    await run(
      npmCommand('install', '--no-audit', '--no-fund', '--loglevel=error', ...files),
      INSTALL_TIMEOUT_MS,
      directory,
    )
    const [program, ...args] = starter.build
    await run([path.join(directory, 'node_modules/.bin', program!), ...args], BUILD_TIMEOUT_MS, directory)
    const scripts = globSync('**/*.js', { cwd: path.join(directory, starter.output) })
    const texts = scripts.map((file) => readFileSync(path.join(directory, starter.output, file), 'utf8'))
    if (!texts.some((text) => text.includes(TEXT_OF_SDK)))
      throw new Error(`none of the ${scripts.length} scripts in ${starter.output} has the SDK`)
    return `${scripts.length} scripts`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function write(directory: string, { dependencies, files }: Starter): void {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies })
  for (const [name, text] of Object.entries({ 'package.json': manifest, ...files })) {
    const file = path.join(directory, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

async function run(command: string[], timeoutMs: number, cwd: string): Promise<void> {
  const { ok, output } = await runCommand(command, { timeoutMs, quiet: true, cwd, env: WITHOUT_REPORTS })
  if (!ok) throw new Error(`${path.basename(command[0]!)}:\n${output}`)
}
