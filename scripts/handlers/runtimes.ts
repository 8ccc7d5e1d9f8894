// The runtimes of the comparison: had from npm in a temporary folder, and started with the handler.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { npmCommand } from '../../tools/programs/npm.ts'
import { endServer, spawnServer } from '../../tools/programs/server-process.ts'
import type { Server } from './ask.ts'
import type { Runtime } from './feature.ts'

const SOURCES: string = path.join(import.meta.dirname, 'runtimes')
export const PACKAGES = { bun: '1.4.5', deno: '2.9.6', miniflare: '4.20260426.0', undici: '7.24.8' }
/** npm may leave out their install scripts, which put the executables in place. */
const POSTINSTALL = { bun: 'install.js', deno: 'install.cjs' }
const INSTALL_TIMEOUT_MS: number = 10 * 60_000
const HOST = 'site.example'

export interface Installed {
  folder: string
  versions: Record<Runtime, string>
  remove(): void
}

/** @throws Error when npm cannot have them */
export function install(): Installed {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-handlers-'))
  cpSync(SOURCES, folder, { recursive: true })
  const manifest = { private: true, type: 'module', dependencies: PACKAGES }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  run(folder, npmCommand('install', '--no-fund', '--no-audit'))
  putInPlace(folder)
  const { version } = JSON.parse(readFileSync(path.join(folder, 'node_modules/workerd/package.json'), 'utf8'))
  return {
    folder,
    versions: { 'Deno.serve': PACKAGES.deno, 'Bun.serve': PACKAGES.bun, workerd: version },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Puts the executables where they are looked for, in a folder in which npm has installed the runtimes. */
export function putInPlace(folder: string): void {
  for (const [name, script] of Object.entries(POSTINSTALL))
    run(path.join(folder, 'node_modules', name), [process.execPath, script])
}

function commandOf(runtime: Runtime): readonly [string, ...string[]] {
  if (runtime === 'Deno.serve') return ['node_modules/deno/deno', 'run', '-A', 'deno.mjs']
  if (runtime === 'Bun.serve') return ['node_modules/bun/bin/bun.exe', 'run', 'bun.mjs']
  return [process.execPath, 'workerd.mjs']
}

/** Starts one, asks it by `use`, and ends it. */
export async function withRuntime<Result>(
  runtime: Runtime,
  folder: string,
  use: (server: Server) => Promise<Result>,
): Promise<Result> {
  const [command, ...args] = commandOf(runtime)
  const program = command.startsWith('/') ? command : path.join(folder, command)
  const child = spawnServer(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    said = `${said}${bytes}`.slice(-1000)
  })
  try {
    const lines = createInterface({ input: child.stdout! })
    const ended = once(child, 'exit').then(() => {
      throw new Error(`${runtime} ended: ${said}`)
    })
    ended.catch(() => {})
    const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
    return await use({ port: JSON.parse(line).port, host: HOST })
  } finally {
    await endServer(child)
  }
}

function run(cwd: string, [command = '', ...args]: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`)
}
