// The commands' own edges: bad arguments, the log for a terminal, lines to be pasted into a shell.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { runCommand } from '../../tools/programs/command.ts'
import { atDepth } from '../../tools/test-depth.ts'
import { printLog } from '../start/log-printer.ts'
import { curlLine } from '../start/trust-hint.ts'

const scripts = path.resolve(import.meta.dirname, '..')

/** A process for each takes long: but at night one of them shows that the command reads its arguments. */
const wrong = (first: string[], ...others: string[][]): [string[]][] =>
  [first, ...atDepth(others, [])].map((args) => [args])

test.each(
  wrong(
    ['constructor', '5'],
    ...[[], ['tls'], ['nothing', '5'], ['tls', '0'], ['tls', '5m'], ['tls', '5', '--seed', '-1']],
  ),
)('fuzz %j: what it takes instead', (args) => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(scripts, 'fuzz.ts'), ...args], {
    encoding: 'utf8',
  })
  expect(status).toBe(2)
  expect(stderr).toContain(
    'TARGET is one of control, machines, api, pages, dns, uploads, payments, tls, yamux, files, http, http2, websocket, or all;',
  )
})

test.each(wrong(['kills', '--seed', 'x'], ['nobody'], ['--fast']))(
  'attack %j: what it takes instead',
  (args) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [path.join(scripts, '../stress/attack.ts'), ...args],
      {
        encoding: 'utf8',
      },
    )
    expect(status).toBe(2)
    expect(stderr).toContain('NAME is one of aborted-clients, unread-answers,')
  },
)

test.each(wrong(['curl', 'nobody'], ['nobody'], ['curl', '--json', '--markdown'], ['--xml']))(
  'interop %j: what it takes instead',
  (args) => {
    const { status, stderr } = spawnSync(process.execPath, [path.join(scripts, 'interop.ts'), ...args], {
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain('ROW is one of openssl, gnutls,')
  },
)

test.each(wrong(['0'], ['many'], ['1', '2'], ['--fast']))('crash %j: what it takes instead', (args) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [path.join(scripts, '../stress/crash.ts'), ...args],
    {
      encoding: 'utf8',
    },
  )
  expect(status).toBe(2)
  expect(stderr).toContain('Usage: npm run crash [-- TIMES]')
})

test.each(wrong(['--machines', '0'], ['--machines', 'many'], ['--machines'], ['--fast']))(
  'e2e %j: what it takes instead',
  (args) => {
    const { status, stderr } = spawnSync(process.execPath, [path.join(scripts, 'e2e.ts'), ...args], {
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain('Usage: npm run e2e [-- --machines N]')
  },
)

test('a command that takes too long is ended, with what it started', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-command-'))
  const trace = path.join(directory, 'trace')
  const options = { timeoutMs: 200, quiet: true }
  const { ok, output } = await runCommand(['sh', '-c', `(sleep 1; touch ${trace}) & wait`], options)
  expect(ok).toBe(false)
  expect(output).toContain('sh took more than 0.2 s and was ended')
  await setTimeout(1200)
  expect(existsSync(trace)).toBe(false)
  rmSync(directory, { recursive: true })
})

test('a command that is not there has failed', async () => {
  const { ok, output } = await runCommand(['there-is-no-such-command'], { timeoutMs: 20_000, quiet: true })
  expect(ok).toBe(false)
  expect(output).toContain('there-is-no-such-command cannot run')
})

test('the log shows what is severe enough, and all that is no log', () => {
  const shown = vi.spyOn(console, 'log').mockImplementation(() => {})
  const { level, print } = printLog('warn')
  const lines = [
    '{"level":30,"msg":"listening"}',
    '{"level":40,"msg":"odd"}',
    'Segmentation fault',
    '{"msg":"?"}',
  ]
  for (const line of lines) print(line)
  const texts = shown.mock.calls.flat()
  shown.mockRestore()
  expect(level).toBe('info')
  expect(texts).toEqual(lines.slice(1))
})

test.each(['ca.pem', "it's a CA.pem", '$(echo ca).pem'])(
  'a shell reads %s in the curl line as it is',
  (name) => {
    const line = curlLine('https://hello.relay.localhost', path.resolve(name))
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
      .trim()
      .split('\n')
    expect(words).toEqual([
      'curl',
      '--cacert',
      expect.stringMatching(/pem$/),
      'https://hello.relay.localhost/',
    ])
    expect(path.resolve(process.env.INIT_CWD ?? '.', words[2]!)).toBe(path.resolve(name))
  },
)
