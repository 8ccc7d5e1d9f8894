// Runs a TypeScript file of this repository on the Node that npm pins, after installing what the lockfile names.
// `node scripts/run.mjs scripts/start.ts ARGS…`; this file must work on Node 18, as Debian 12 has it, with nothing installed.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bin = path.join(root, 'node_modules', '.bin')
const executable = process.platform === 'win32' ? 'node.exe' : 'node'
const pinnedNode = path.join(root, 'node_modules/node/bin', executable)
/** The folder in which Node keeps what it has compiled: a start of the relay then takes half the processor time. */
const compileCache = path.join(root, 'node_modules/.cache/node')

const OUTPUT = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error']
/** Only installs what an old Node cannot, and is gone then. */
const NPM = 'npm@11.19.1'

if (!isInstalled()) install()
run(process.argv.slice(2))

/** Compares the packages that npm says it installed with those that the lockfile names. */
function isInstalled() {
  const wanted = packages('package-lock.json')
  const installed = packages('node_modules/.package-lock.json')
  if (wanted === undefined || installed === undefined || !existsSync(pinnedNode) || !hasBundler())
    return false
  return Object.entries(wanted).every(([location, { version, integrity, optional }]) => {
    if (location === '' || optional) return true
    const found = installed[location]
    return found !== undefined && found.version === version && found.integrity === integrity
  })
}

/** @returns whether its native part is there, which an npm on an old Node leaves out silently: npm takes it for optional */
function hasBundler() {
  const scope = path.join(root, 'node_modules/@rolldown')
  return existsSync(scope) && readdirSync(scope).some((name) => name.startsWith('binding-'))
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
  const args = [locked ? 'ci' : 'install', ...QUIET]
  if (suits(nodeOfNpm())) succeed(`npm ${args[0]}`, npm(args))
  else withNewerNpm((newer) => succeed(`npm ${args[0]}`, newer(args)))
  if (!existsSync(pinnedNode)) {
    fail('The npm package "node" has no binary: its install script must run (is npm set to ignore-scripts?).')
  }
  requireRunning(pinnedNode)
}

/** @returns the Node that npm runs on, which need not be the one that runs this */
function nodeOfNpm() {
  const [, version] = / node\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '') ?? []
  return version ?? process.versions.node
}

/** @returns whether native packages of the lockfile run on this version of Node */
function suits(version) {
  const [major, minor] = version.split('.').map(Number)
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22
}

/** Lends `use` an npm on the Node that the project wants, from a folder that is removed then. */
function withNewerNpm(use) {
  console.error(
    `npm runs on Node ${nodeOfNpm()} here, which is too old: fetching a newer one for the installation …`,
  )
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-npm-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const wanted = [`node@${devDependencies.node}`, NPM]
  succeed('npm install', npm(['install', '--prefix', folder, ...QUIET, ...wanted]))
  const node = path.join(folder, 'node_modules/node/bin', executable)
  requireRunning(node)
  const cli = path.join(folder, 'node_modules/npm/bin/npm-cli.js')
  // the name of the old one shall not pass for that of the new one
  const { npm_config_user_agent: _, ...env } = process.env
  const binaries = `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}`
  use((args) => spawnSync(node, [cli, ...args], { ...OUTPUT, env: { ...env, PATH: binaries } }))
  remove()
}

/** A system with the fewest packages lacks a library of it. */
function requireRunning(node) {
  const { status, stderr, error } = spawnSync(node, ['--version'], OUTPUT)
  if (status === 0) return
  const advice = /libatomic/.test(stderr ?? '') ? 'Install libatomic (Debian and Ubuntu: libatomic1).' : ''
  fail(`The Node of npm's package "node" cannot run here:\n${stderr ?? error?.message}${advice}`)
}

function npm(args) {
  const self = process.env.npm_execpath
  // A Node of npm's own: Debian's npm finds its parts with Debian's Node alone.
  if (self !== undefined && /npm-cli\.c?js$/.test(self))
    return spawnSync(process.env.npm_node_execpath ?? process.execPath, [self, ...args], OUTPUT)
  return spawnSync('npm', args, { ...OUTPUT, shell: process.platform === 'win32' })
}

function succeed(command, { status, stdout, stderr, error }) {
  if (status !== 0) fail(`${command} failed:\n${stdout}${stderr}${error?.message ?? ''}`)
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
