// `svc start`, `status`, `relays` and `config`, and the live view on a real pseudo-terminal.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { EXPIRED_PEM, FUTURE_PEM, PRIVATE_KEY_PEM } from '../support/clock-certificates.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'
import { environment, MAIN, type ProcessRun, type Run, reported, runHere, runSvc } from '../support/svc.ts'

let relay: TestRelay
let target: Server
let targetPort: number
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => void response.end('from the target'))
  targetPort = await listening(target)
})
afterAll(async () => {
  target.close()
  await relay.close()
})

let home: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-run-'))
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  // The last write of a site's keys may end after the command.
  await rm(home, { recursive: true, maxRetries: 5 })
})

function svc(...args: string[]): Run {
  const run = runHere(home, args)
  running.push(run)
  return run
}

function svcProcess(...args: string[]): ProcessRun {
  const run = runSvc(home, args)
  running.push(run)
  return run
}

async function output(...args: string[]): Promise<{ out: string[]; err: string[]; code: number }> {
  const { out, err, ended } = svc(...args)
  return { code: await ended, out, err }
}

const at = (): string[] => ['--relay', relay.origin, '--ca', relay.caFile]

describe('svc status', () => {
  it('shows what runs, to its owner only, and nothing when it has ended', async () => {
    expect(await output('status')).toEqual({ code: 0, err: [], out: ['nothing is running'] })
    const run = svcProcess('expose', String(targetPort), '--name', 'shown', '--json', ...at())
    const { url } = await reported(run, 'online')
    await text(await visit(relay, url!))
    await reported(run, 'probe')
    const { out, code } = await output('status', '--json')
    expect(code).toBe(0)
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        event: 'status',
        pid: run.child.pid,
        started_at: expect.stringMatching(/^\d{4}-/),
        tunnel: 'shown',
        relay: relay.origin,
        url,
        canonical_url: expect.stringContaining('https://shown-'),
        share_url: `${relay.origin}/go/shown`,
        targets: { url: `http://localhost:${targetPort}` },
        state: 'online',
        rtt_ms: expect.any(Number),
        connections: expect.any(Number),
        reconnects: 0,
        bytes_in: expect.any(Number),
        bytes_out: expect.any(Number),
        probe: 'not_seen_from_here',
      },
    ])
    const folder = join(home, 'svc', 'run')
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, `${run.child.pid}.sock`))).mode & 0o777).toBe(0o600)
    expect((await output('status')).out).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${url} → http://localhost:${targetPort} {2}online {2}[\\d.]+ ms {2}\\d connections? .* pid ${run.child.pid}$`,
        ),
      ),
    ])
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(0)
    expect(await readdir(folder)).toEqual([])
  })

  wholeOnly(it, 'clock')(
    'waits no longer than a moment for a process that does not answer, and forgets one that was killed',
    async () => {
      const run = svcProcess('expose', String(targetPort), '--json', ...at())
      await reported(run, 'online')
      run.child.kill('SIGSTOP')
      expect(await output('status')).toEqual({
        code: 0,
        out: [],
        err: [`svc: process ${run.child.pid} does not answer: it is stopped, or very busy`],
      })
      run.child.kill('SIGKILL')
      await run.ended
      expect(await readdir(join(home, 'svc', 'run'))).toHaveLength(1)
      expect((await output('status')).out).toEqual(['nothing is running'])
      expect(await readdir(join(home, 'svc', 'run'))).toEqual([])
    },
  )

  it('is not what a site depends on', async () => {
    await mkdir(join(home, 'svc'))
    await writeFile(join(home, 'svc', 'run'), 'not a folder')
    const run = svc('expose', String(targetPort), '--json', ...at())
    expect((await reported(run, 'error')).message).toContain('svc status will not see this')
    await reported(run, 'online')
  })
})

describe('svc start', () => {
  it('runs all tunnels of the file that config init began, and says which of them cannot', async () => {
    const file = join(home, 'svc.toml')
    expect((await output('config', 'init', file)).code).toBe(0)
    await mkdir(join(home, 'docs'))
    await writeFile(join(home, 'docs', 'index.html'), 'from the folder')
    await writeFile(
      file,
      `relay = "${relay.origin}"
       ca = "${relay.caFile}"
       [[tunnel]]
       name = "first"
       http = ${targetPort}
       routes = { "/docs" = "./docs" }
       [[tunnel]]
       name = "second"
       folder = "docs"
       [[tunnel]]
       name = "third"
       tcp = 5432`,
    )
    const run = svcProcess('start', '--json')
    const told = (event: string) =>
      run.out.map((line) => JSON.parse(line)).filter((report) => report.event === event)
    await expect.poll(() => told('online').length + told('error').length).toBe(3)
    expect(told('error')).toEqual([
      {
        event: 'error',
        tunnel: 'third',
        relay: relay.origin,
        code: 'tcp_port_disabled',
        message: 'this relay gives no TCP ports',
      },
    ])
    const shown = (await output('status', '--json')).out.map((line) => JSON.parse(line))
    expect(shown.map(({ tunnel, state, failure }) => [tunnel, state, failure?.code])).toEqual([
      ['first', 'online', undefined],
      ['second', 'online', undefined],
      ['third', 'failed', 'tcp_port_disabled'],
    ])
    expect((await output('status')).out.at(-1)).toMatch(
      /^third at https:\/\/relay\.localhost:\d+ {2}failed: this relay gives no TCP ports {2}pid \d+$/,
    )
    const at = (name: string): string => `https://${name}.relay.localhost:${relay.port}`
    expect(await text(await visit(relay, at('first')))).toBe('from the target')
    expect(await text(await visit(relay, at('first'), '/docs/'))).toBe('from the folder')
    expect(await text(await visit(relay, at('second')))).toBe('from the folder')
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(4)
    expect(
      told('closed')
        .map(({ tunnel }) => tunnel)
        .sort(),
    ).toEqual(['first', 'second'])
    for (const line of run.out) expect(JSON.parse(line).tunnel).toMatch(/^(first|second|third)$/)
  })

  it('ends as its first failure says when no tunnel could be begun', async () => {
    const tunnels = ['a', 'b'].map((name) => `[[tunnel]]\nname = "${name}"\ntcp = 1\n`).join('')
    const file = join(home, 'svc.toml')
    await writeFile(file, `relay = "${relay.origin}"\nca = "${relay.caFile}"\n${tunnels}`)
    const { code, err } = await output('start', '--config', file)
    expect(code).toBe(4)
    expect(err.sort()).toEqual([
      'svc: a: this relay gives no TCP ports',
      'svc: b: this relay gives no TCP ports',
    ])
  })

  it('refuses a broken file, and leaves nothing behind', async () => {
    const file = join(home, 'svc.toml')
    await writeFile(file, '[[tunnel]]\nhtpp = 3000')
    const { code, out, err } = await output('start', '--config', file)
    expect([code, out]).toEqual([2, []])
    expect(err).toEqual([expect.stringContaining(`svc: ${file}: tunnel 1: htpp is not known; known are `)])
    expect(await readdir(home)).toEqual(['svc.toml'])
    expect((await output('config', 'init', file)).err).toEqual([
      `svc: ${file} already exists and was not changed`,
    ])
  })
})

describe('svc relays', () => {
  it('says what each speaks and how far away it is, or why it is of no use', async () => {
    const missing = `https://relay.localhost:${await freePort()}`
    const { code, out } = await output('relays', ...at(), '--relay', missing, '--discover', '--json')
    expect(code).toBe(0)
    expect(out.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'error' }),
      expect.objectContaining({ event: 'error' }),
      {
        event: 'relay',
        relay: relay.origin,
        healthy: true,
        protocol_version: '10',
        release_version: expect.any(String),
        rtt_ms: expect.any(Number),
      },
      {
        event: 'relay',
        relay: missing,
        healthy: false,
        code: 'relay_unreachable',
        message: expect.stringContaining('nothing listens there'),
      },
    ])
  })

  it('ends with 3 when none is of use', async () => {
    const missing = `https://relay.localhost:${await freePort()}`
    const { code, out } = await output('relays', '--relay', missing)
    expect([code, out]).toEqual([3, [expect.stringContaining(missing)]])
  })
})

describe('bad input', () => {
  it.each([
    ['has expired', EXPIRED_PEM],
    ['is not valid yet', FUTURE_PEM],
  ])('a certificate that %s: is the clock right?', async (_, cert) => {
    const server = createHttpsServer({ cert, key: PRIVATE_KEY_PEM })
    const url = `https://relay.localhost:${await listening(server)}`
    await writeFile(join(home, 'ca.pem'), cert)
    const { code, out, err } = await output('expose', '80', '--relay', url, '--ca', join(home, 'ca.pem'))
    server.close()
    expect([code, out]).toEqual([3, []])
    expect(err).toEqual([expect.stringContaining("is this machine's clock right?")])
    // the identity stays: it may be known somewhere by now
    expect(await readdir(join(home, 'svc'))).toEqual(['identity.json'])
  })

  it.each<[string, string[], string]>([
    ['no target', [], 'a target is needed'],
    ['an invalid port', ['--tcp', '99999'], 'tcp "99999" is not a port'],
    ['a relay that is no URL', ['80', '--relay', 'nowhere'], 'relay "nowhere" is not a URL'],
    ['a route without a target', ['--route', '/api'], '--route "/api" is not PLACE=TARGET'],
    ['a route to nowhere', ['--route', '/api=nowhere'], 'route "/api": "nowhere" is not a port'],
    ['a route to a folder that is not there', ['--route', '/api=./none'], 'there is no folder ./none'],
    ['an invalid number of relays', ['80', '--discover', 'all'], 'discover must be a whole number'],
  ])('%s: one line, and nothing is left behind', async (_, args, message) => {
    const { code, out, err } = await output('expose', ...args, ...at())
    expect([code, out]).toEqual([2, []])
    expect(err).toEqual([expect.stringContaining(message)])
    expect(await readdir(home)).toEqual([])
  })
})

wholeOnly(it, 'variant')('a relay whose TCP ports are all in use', async () => {
  const port = String(await freePort())
  const own = await startTestRelay({ TCP_ENABLED: 'true', MIN_PORT: port, MAX_PORT: port })
  const tcp = ['expose', '--tcp', '80', '--relay', own.origin, '--ca', own.caFile]
  const first = svc(...tcp, '--json')
  await reported(first, 'online')
  const { code, out, err } = await output(...tcp, '--identity-path', join(home, 'other.json'))
  expect([code, out]).toEqual([4, []])
  expect(err).toEqual(['svc: all TCP ports of this relay are in use: try again later, or at another'])
  first.interrupt()
  expect(await first.ended).toBe(0)
  await own.close()
})

describe('on a terminal', () => {
  const ENTERED = '\x1b[?1049h\x1b[?25l'
  const LEFT = '\x1b[?25h\x1b[?1049l'

  it('shows the site in a view, and gives the terminal back: for a while on Ctrl-Z, for good on Ctrl-C', async () => {
    const command = `'${process.execPath}' '${MAIN}' expose ${targetPort} --name viewed ${at().join(' ')}`
    const child = spawn('script', ['-qec', `stty cols 100 rows 40; exec ${command}`, '/dev/null'], {
      env: { ...environment(home), TERM: 'xterm' },
      stdio: 'pipe',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let shown = ''
    child.stdout.on('data', (bytes) => {
      shown += bytes
    })
    const url = `https://viewed.relay.localhost:${relay.port}`
    await expect.poll(() => shown).toContain('Ctrl-C takes it off the relay')
    expect(shown.startsWith(ENTERED)).toBe(true)
    // a phone that reads a code of localhost would look at itself
    expect(shown).not.toMatch(/▀|▄/)
    expect(shown).toContain(url)
    await text(await visit(relay, url, '/path?secret=1'))
    await expect.poll(() => shown).toMatch(/ms {2}127\.0\.0\.0\/24 {2}GET \/path\r+\n/)
    expect(shown).not.toContain('secret')

    shown = ''
    child.stdin.write('\x1a')
    // this is what `fg` does; script stops and goes on with its child, and may still print earlier output
    const goOn = (): boolean => child.kill('SIGCONT')
    await expect.poll(() => goOn() && shown.slice(shown.indexOf(LEFT))).toContain(ENTERED)

    shown = ''
    child.stdin.write('\x03')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(shown.slice(shown.indexOf(LEFT))).toContain(`taken off ${relay.origin}`)
  })
})
