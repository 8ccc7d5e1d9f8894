// A folder outside the checkout that has the packages from their tarballs, as a user's project has them.
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root, runCommand } from '../../tools/programs/command.ts'
import { npmCommand } from '../../tools/programs/npm.ts'
import type { Tarball } from './pack.ts'
import type { Manifest } from './published.ts'

/** Longest that tar may take for a tarball, in milliseconds. */
const UNPACK_TIMEOUT_MS = 30_000
/** Longest that npm may take to install everything, in milliseconds. */
const INSTALL_TIMEOUT_MS: number = 10 * 60_000

export interface Consumer {
  directory: string
  /** The path of a command that a package brings. */
  command(name: string): string
  remove(): void
}

/** Unpacks the tarballs and takes all other packages from the checkout, so that no network is needed. */
export async function linkedConsumer(tarballs: readonly Tarball[]): Promise<Consumer> {
  const consumer = emptyConsumer()
  const modules = path.join(consumer.directory, 'node_modules')
  mkdirSync(path.join(modules, '.bin'), { recursive: true })
  for (const name of readdirSync(path.join(root, 'node_modules')))
    if (!name.startsWith('.') && name !== '@svc')
      symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name))
  for (const { name, file, folder } of tarballs) {
    const directory = path.join(modules, name)
    mkdirSync(directory, { recursive: true })
    await run(['tar', '-xzf', file, '--strip-components=1', '-C', directory], UNPACK_TIMEOUT_MS, root)
    linkOwnModules(folder, directory)
    linkCommands(directory, path.join(modules, '.bin'))
  }
  return consumer
}

/** Lets npm install the tarballs, and `packages` with them. */
export async function installedConsumer(
  tarballs: readonly Tarball[],
  packages: readonly string[],
): Promise<Consumer> {
  const consumer = emptyConsumer()
  const files = tarballs.map(({ file }) => file)
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const command = npmCommand('install', ...quiet, '--save-exact', ...files, ...packages)
  await run(command, INSTALL_TIMEOUT_MS, consumer.directory)
  return consumer
}

function emptyConsumer(): Consumer {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-consumer-'))
  writeFileSync(path.join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  return {
    directory,
    command: (name) => path.join(directory, 'node_modules/.bin', name),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** npm puts a package of which another version is at the root below the one that needs it. */
function linkOwnModules(folder: string, directory: string): void {
  const own = path.join(root, folder, 'node_modules')
  for (const name of globSync(['[!.@]*', '@*/*'], { cwd: own })) {
    const link = path.join(directory, 'node_modules', name)
    mkdirSync(path.dirname(link), { recursive: true })
    symlinkSync(path.join(own, name), link)
  }
}

function linkCommands(directory: string, bin: string): void {
  const manifest: Manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'))
  for (const [name, file] of Object.entries(manifest.bin ?? {})) {
    chmodSync(path.join(directory, file), 0o755)
    symlinkSync(path.join(directory, file), path.join(bin, name))
  }
}

async function run(command: string[], timeoutMs: number, cwd: string): Promise<void> {
  const { ok, output } = await runCommand(command, { timeoutMs, quiet: true, cwd })
  if (!ok) throw new Error(`${command.slice(0, 2).join(' ')} failed:\n${output}`)
}
