// Has software from Debian, npm, PyPI, Maven and Go modules, and writes the files of applications.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { aptGet } from '../../tools/programs/install.ts'
import { npmCommand } from '../../tools/programs/npm.ts'
import { Unavailable } from './application.ts'

const INSTALL_TIMEOUT_MS: number = 10 * 60_000
/** Makes dpkg-query print the version of a package. */
const FORMAT = ['$', '{Version}'].join('')
const REASON_CHARACTERS = 160

/** Writes files of an application into its folder. */
export function write(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), content)
  }
}

/** @param packages as `name@version`; the first one's version counts */
export function npm(folder: string, packages: readonly string[]): string {
  const name = packages[0]!.slice(0, packages[0]!.lastIndexOf('@'))
  const manifest = path.join(folder, 'node_modules', name, 'package.json')
  if (!existsSync(path.join(folder, 'package.json')))
    write(folder, { 'package.json': '{"private":true,"type":"module"}' })
  if (!existsSync(manifest)) run(folder, npmCommand('install', '--no-fund', '--no-audit', ...packages))
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/** @param packages as `name==version`; the first one's version counts */
export function pip(folder: string, packages: readonly string[]): string {
  const python = pythonOf(folder)
  const name = packages[0]!.split('==')[0]!
  const version = ['-c', `from importlib.metadata import version; print(version("${name}"))`]
  if (!existsSync(python)) run(folder, ['python3', '-m', 'venv', 'venv'])
  if (spawnSync(python, version).status !== 0)
    run(folder, [python, '-m', 'pip', 'install', '-q', ...packages])
  return run(folder, [python, ...version])
}

/** The Python of {@link pip}, in an environment of its own. */
export function pythonOf(folder: string): string {
  return path.join(folder, 'venv/bin/python')
}

/** @param name the package whose version counts, with others that it needs */
export function debian(folder: string, name: string, ...others: string[]): string {
  const query = ['-W', '-f', FORMAT, name]
  const isThere = spawnSync('dpkg-query', ['-s', name, ...others]).status === 0
  if (!isThere) {
    const install = aptGet(`--no-install-recommends ${[name, ...others].join(' ')}`)
    if (install.length === 0) throw new Unavailable('it needs apt, as root')
    run(folder, install)
  }
  return run(folder, ['dpkg-query', ...query])
}

/** Builds `main.go` as `app`. @param modules as `path@version`; the first one's version counts */
export function go(folder: string, source: string, modules: readonly string[]): string {
  write(folder, { 'main.go': source })
  if (!existsSync(path.join(folder, 'go.mod'))) run(folder, ['go', 'mod', 'init', 'app'])
  run(folder, ['go', 'get', ...modules])
  run(folder, ['go', 'build', '-o', 'app', '.'])
  return run(folder, ['go', 'list', '-m', '-f', '{{.Version}}', modules[0]!.split('@')[0]!])
}

/** Builds `target/app.jar` of a Maven project. */
export function maven(folder: string, files: Record<string, string>): void {
  write(folder, files)
  if (!existsSync(path.join(folder, 'target/app.jar'))) run(folder, ['mvn', '-q', '-B', 'package'])
}

/** @throws Unavailable with the last words of the command */
export function run(folder: string, [command = '', ...args]: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status === 0) return stdout.trim()
  const words = `${stdout ?? ''}\n${stderr ?? ''}`.trim().replaceAll(/\s+/g, ' ')
  throw new Unavailable(`${command} failed: ${error?.message ?? words.slice(-REASON_CHARACTERS)}`)
}
