// `npm start` on a machine whose npm runs on an old Node: what it would leave out comes by a newer one.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'

/** Stands in for npm, which would download for a minute: keeps what it was asked for, and puts there what it is to install. */
const NPM = `
import fs from 'node:fs'
import path from 'node:path'
const args = process.argv.slice(2)
const entry = { args, agent: process.env.npm_config_user_agent ?? null, path: process.env.PATH.split(':')[0], self: import.meta.filename }
fs.appendFileSync(process.env.NPM_CALLS, JSON.stringify(entry) + '\\n')
const to = path.join(args.includes('--prefix') ? args[args.indexOf('--prefix') + 1] : process.cwd(), 'node_modules')
fs.mkdirSync(path.join(to, 'node/bin'), { recursive: true })
fs.symlinkSync(process.execPath, path.join(to, 'node/bin/node'))
fs.mkdirSync(path.join(to, 'npm/bin'), { recursive: true })
fs.copyFileSync(import.meta.filename, path.join(to, 'npm/bin/npm-cli.js'))
`

let directory: string
let calls: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'svc-install-'))
  calls = path.join(directory, 'calls')
  for (const name of ['package.json', 'scripts/run.mjs', 'scripts/prepare.mjs'])
    cpSync(path.join(root, name), path.join(directory, name))
  writeFileSync(path.join(directory, 'package-lock.json'), '{"packages":{}}')
  mkdirSync(path.join(directory, 'npm'))
  writeFileSync(path.join(directory, 'npm/npm-cli.js'), NPM)
  writeFileSync(path.join(directory, 'npm/package.json'), '{"type":"module"}')
  writeFileSync(path.join(directory, 'hello.mjs'), "console.log('hello')")
})
afterEach(() => rmSync(directory, { recursive: true }))

function start(nodeOfNpm: string) {
  const { stdout, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'hello.mjs'], {
    cwd: directory,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      TMPDIR: directory,
      NPM_CALLS: calls,
      npm_execpath: path.join(directory, 'npm/npm-cli.js'),
      npm_config_user_agent: `npm/9.2.0 node/v${nodeOfNpm} linux x64 workspaces/false`,
    },
  })
  const lines = readFileSync(calls, 'utf8').trim().split('\n')
  return { stdout, stderr, calls: lines.map((line) => JSON.parse(line)) }
}

test.each(['20.19.0', '22.12.0', '26.10.0'])('on Node %s npm installs by itself', (version) => {
  const { stdout, calls } = start(version)
  expect(calls).toMatchObject([{ args: ['ci', '--no-audit', '--no-fund', '--loglevel=error'] }])
  expect(stdout).toBe('hello\n')
})

test.each(['18.20.4', '20.18.9', '22.11.0'])(
  'on Node %s it fetches a newer one, which installs',
  (version) => {
    const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    const { stdout, stderr, calls } = start(version)
    const [fetched, installed] = calls
    expect(calls).toHaveLength(2)
    expect(fetched.args.slice(-2)).toEqual([
      `node@${devDependencies.node}`,
      expect.stringMatching(/^npm@\d+\.\d+\.\d+$/),
    ])
    const folder = fetched.args[fetched.args.indexOf('--prefix') + 1]
    expect(installed).toMatchObject({
      args: ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
      agent: null,
      path: path.join(folder, 'node_modules/node/bin'),
      self: path.join(folder, 'node_modules/npm/bin/npm-cli.js'),
    })
    expect(existsSync(folder)).toBe(false)
    expect(stderr).toContain(`Node ${version} here, which is too old`)
    expect(stdout).toBe('hello\n')
  },
)

describe('npm ci by hand', () => {
  const prepare = () =>
    spawnSync(process.execPath, ['scripts/prepare.mjs'], { cwd: directory, encoding: 'utf8' })

  test('without the development packages goes on without the pages, and says so', () => {
    const { status, stderr } = prepare()
    expect([status, stderr]).toEqual([0, expect.stringContaining('without --omit=dev')])
  })

  test('on an old Node has failed, and says what works', () => {
    for (const name of ['node/bin', 'vite', '@rolldown'])
      mkdirSync(path.join(directory, 'node_modules', name), { recursive: true })
    symlinkSync(process.execPath, path.join(directory, 'node_modules/node/bin/node'))
    const { status, stderr } = prepare()
    expect([status, stderr]).toEqual([1, expect.stringContaining('`npm run site` installs them')])
  })
})
