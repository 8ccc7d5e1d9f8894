// Runs a TypeScript file of this repository on the Node that npm pins, after installing what the lockfile names.
// `node scripts/run.mjs scripts/start.ts ARGS…`; this one file must work on Node 20 with nothing installed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bin = path.join(root, 'node_modules', '.bin')
const executable = process.platform === 'win32' ? 'node.exe' : 'node'
const pinnedNode = path.join(root, 'node_modules/node/bin', executable)
/** Where Node keeps what it has compiled: a start of the relay takes half the processor time then. */
const compileCache = path.join(root, 'node_modules/.cache/node')

if (!isInstalled()) install()
run(process.argv.slice(2))

/** What npm says it installed, against what the lockfile asks for. */
function isInstalled() {
  const wanted = packages('package-lock.json')
  const installed = packages('node_modules/.package-lock.json')
  if (wanted === undefined || installed === undefined || !existsSync(pinnedNode)) return false
  return Object.entries(wanted).every(([location, { version, integrity, optional }]) => {
    if (location === '' || optional) return true
    const found = installed[location]
    return found !== undefined && found.version === version && found.integrity === integrity
  })
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

function install() {
  const locked = existsSync(path.join(root, 'package-lock.json'))
  if (!locked)
    console.error('There is no package-lock.json: installing the versions that package.json allows.')
  console.error('Installing the packages of package-lock.json with npm: once, for a minute or two …')
  const args = [locked ? 'ci' : 'install', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stdout, stderr, error } = npm(args)
  if (status !== 0) {
    fail(`npm ${args[0]} failed:\n${stdout}${stderr}${error?.message ?? ''}`)
  }
  if (!existsSync(pinnedNode)) {
    fail('The npm package "node" has no binary: its install script must run (is npm set to ignore-scripts?).')
  }
}

function npm(args) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }
  const self = process.env.npm_execpath
  if (self !== undefined && /npm-cli\.c?js$/.test(self))
    return spawnSync(process.execPath, [self, ...args], options)
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' })
}

function run(args) {
  const env = { NODE_COMPILE_CACHE: compileCache, ...process.env }
  env.PATH = `${bin}${path.delimiter}${process.env.PATH ?? ''}`
  const child = spawn(pinnedNode, args, { cwd: root, env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${pinnedNode} cannot run: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
