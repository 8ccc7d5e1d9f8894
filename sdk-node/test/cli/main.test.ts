// The command `svc`: what it prints, how it ends, and what it says of every wrong input; and its executable.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import sdkPackage from '../../package.json' with { type: 'json' }
import { listening, TCP_PORTS, TCP_SETTINGS, tcpServer, text, visit } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay } from '../support/relay.ts'
import { environment, MAIN, type ProcessRun, type Run, reported, runHere, runSvc } from '../support/svc.ts'

let target: Server
let targetPort: number
const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))
/** It gives no TCP ports. */
const other = useStarted(startTestRelay)
beforeAll(async () => {
  target = createServer((_, response) => void response.end('from the target'))
  targetPort = await listening(target)
})
afterAll(() => target.close())

let home: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-cli-'))
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  await rm(home, { recursive: true })
})

const svc = (args: string[], env: Record<string, string> = {}): Run => {
  const run = runHere(home, args, env)
  running.push(run)
  return run
}
const svcProcess = (args: string[], env: Record<string, string> = {}): ProcessRun => {
  const run = runSvc(home, args, env)
  running.push(run)
  return run
}

const at = (): string[] => ['--relay', relay.origin, '--ca', relay.caFile]

async function hostnames(): Promise<string[]> {
  const { data } = await relay.call('/api/state')
  return (data! as { leases: { hostname: string }[] }).leases.map(({ hostname }) => hostname)
}

describe('svc expose', () => {
  it('is online with one line, and Ctrl-C takes it off the relay', async () => {
    const { child, out, err, ended } = svcProcess([
      'expose',
      String(targetPort),
      '--name',
      'plain',
      '--listed',
      ...at(),
    ])
    await expect.poll(() => out.length).toBe(1)
    const url = `https://plain.relay.localhost:${relay.port}`
    expect(out[0]).toBe(
      `${url} → http://localhost:${targetPort}  to share: https://relay.localhost:${relay.port}/go/plain`,
    )
    expect(await text(await visit(relay, url))).toBe('from the target')
    expect(await hostnames()).toContain('plain.relay.localhost')
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(err).toEqual([])
    expect(out.slice(1)).toEqual([
      expect.stringMatching(/^200 +\d+ ms {2}127\.0\.0\.0\/24 {2}GET \/$/),
      `taken off ${relay.origin}`,
    ])
    expect(await hostnames()).not.toContain('plain.relay.localhost')
  })

  wholeOnly(it, 'variant')(
    'is taken off the relay when its terminal is closed, which sends SIGHUP more than once',
    async () => {
      const { child, out, err, ended } = svcProcess([
        'expose',
        String(targetPort),
        '--name',
        'hung-up',
        '--listed',
        ...at(),
      ])
      await expect.poll(() => out.length).toBe(1)
      child.kill('SIGHUP')
      child.kill('SIGHUP')
      expect(await ended).toBe(0)
      expect([err, out.slice(1)]).toEqual([[], [`taken off ${relay.origin}`]])
      expect(await hostnames()).not.toContain('hung-up.relay.localhost')
    },
  )

  wholeOnly(it, 'variant')(
    'ends quietly, and is taken off the relay, when nobody reads its output any more',
    async () => {
      const run = svcProcess([
        'expose',
        String(targetPort),
        '--name',
        'unread',
        '--listed',
        '--json',
        ...at(),
      ])
      const { url } = await reported(run, 'online')
      expect(await hostnames()).toContain('unread.relay.localhost')
      run.child.stdout!.destroy()
      // its next line has no reader
      await text(await visit(relay, url!))
      expect(await run.ended).toBe(0)
      expect(run.err).toEqual([])
      expect(await hostnames()).not.toContain('unread.relay.localhost')
    },
  )

  it('says each request without its query, in a line and as an event', async () => {
    const plain = svcProcess(['expose', String(targetPort), '--name', 'log-plain', ...at()])
    const json = svcProcess(['expose', String(targetPort), '--name', 'log-json', '--json', ...at()])
    await expect.poll(() => plain.out.length).toBe(1)
    await text(await visit(relay, plain.out[0]!.split(' ')[0]!, '/hook?token=secret'))
    await expect.poll(() => plain.out[1]).toMatch(/^200 +\d+ ms {2}127\.0\.0\.0\/24 {2}GET \/hook$/)
    const { url } = await reported(json, 'online')
    await text(await visit(relay, url!, '/hook?token=secret'))
    const { ms, ...request } = await reported(json, 'request')
    expect(request).toEqual({
      event: 'request',
      tunnel: 'log-json',
      method: 'GET',
      path: '/hook',
      status: 200,
      address: '127.0.0.0/24',
    })
    expect(ms).toBeTypeOf('number')
    expect([...plain.out, ...json.out].join()).not.toContain('secret')
  })

  wholeOnly(it, 'faults')(
    'leaves requests out while nobody reads its output, says how many, and serves on',
    async () => {
      const child = spawn(
        process.execPath,
        [MAIN, 'expose', String(targetPort), '--name', 'slow', '--json', ...at()],
        {
          env: environment(home),
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const ended = once(child, 'exit')
      const lines = createInterface(child.stdout)
      const events: Record<string, unknown>[] = []
      lines.on('line', (line) => void events.push(JSON.parse(line)))
      await expect.poll(() => events.find(({ event }) => event === 'online')).toBeDefined()
      lines.pause()
      const url = `https://slow.relay.localhost:${relay.port}`
      const path = `/${'long'.repeat(1800)}`
      let visits = 0
      const visitOnce = async (): Promise<void> => {
        expect(await text(await visit(relay, url, path))).toBe('from the target')
        visits += 1
      }
      // more than the pipe, the buffers at both ends and the bound hold together
      while (visits < 120) await Promise.all(Array.from({ length: 10 }, visitOnce))
      lines.resume()
      const dropped = () => events.find(({ event }) => event === 'dropped')
      await expect
        .poll(async () => {
          await visitOnce()
          return dropped()
        })
        .toBeDefined()
      child.kill('SIGINT')
      await ended
      const said = events.filter(({ event }) => event === 'request').length
      const left = events.filter(({ event }) => event === 'dropped').map(({ count }) => Number(count))
      expect(left.reduce((sum, count) => sum + count, said)).toBe(visits)
      expect(left[0]).toBeGreaterThan(5)
    },
  )

  it('takes the relay from SVC_URL, trusts NODE_EXTRA_CA_CERTS, and makes a name of the identity', async () => {
    const env = { SVC_URL: relay.origin, NODE_EXTRA_CA_CERTS: relay.caFile }
    const command = svcProcess(['expose', String(targetPort), '--json'], env)
    const { url, canonical_url } = await reported(command, 'online')
    expect(url).toMatch(/^https:\/\/svc-[0-9a-f]{8}\.relay\.localhost:\d+$/)
    expect(canonical_url).toContain(`svc-${url!.slice(12, 20)}-${url!.slice(12, 20)}`)
    expect(await text(await visit(relay, url!))).toBe('from the target')
    expect(await reported(command, 'probe')).toMatchObject({
      relay: relay.origin,
      verdict: 'not_seen_from_here',
    })
    expect((await stat(join(home, 'svc', 'identity.json'))).mode & 0o777).toBe(0o600)
    command.child.kill('SIGTERM')
    expect(await command.ended).toBe(0)
  })

  it('gives a TCP service a port of its own', async () => {
    const echo = tcpServer((socket) => void socket.pipe(socket))
    const port = String(await listening(echo))
    const command = svc(['expose', '--tcp', port, '--json', ...at()])
    const online = await reported(command, 'online')
    // nothing answers at an HTTPS URL of it
    expect(Object.keys(online).sort()).toEqual(['event', 'relay', 'targets', 'tcp_address'])
    const { tcp_address } = online
    const socket = connect(Number(tcp_address!.split(':').at(-1)), '127.0.0.1')
    socket.end('echo')
    expect(String(Buffer.concat(await socket.toArray()))).toBe('echo')
    command.interrupt()
    await command.ended
    const { out } = svc(['expose', '--tcp', port, ...at()])
    await expect.poll(() => out).toEqual([`tcp://${tcp_address} → localhost:${port}`])
    echo.close()
  })

  it('tells the relay what to show: description, owner, tags, and a picture from a file', async () => {
    const picture = join(home, 'logo.svg')
    await writeFile(picture, '<svg xmlns="http://www.w3.org/2000/svg"/>')
    const shown = [
      '--listed',
      '--description',
      'A demo',
      '--owner',
      'Somebody',
      '--tag',
      'one, two',
      '--tag',
      'three',
    ]
    const command = svc(['expose', '1', '--json', '--thumbnail', picture, ...shown, ...at()])
    const { url } = await reported(command, 'online')
    const { data } = await relay.call('/api/state')
    const { leases } = data! as { leases: { hostname: string; metadata: object }[] }
    expect(leases.find(({ hostname }) => hostname === new URL(url!).hostname)?.metadata).toEqual({
      description: 'A demo',
      owner: 'Somebody',
      tags: ['one', 'two', 'three'],
      hide: false,
      thumbnail: `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`,
    })
  })

  it('is on no list of its relay without --listed', async () => {
    const command = svc(['expose', '1', '--json', '--description', 'A demo', ...at()])
    const { url } = await reported(command, 'online')
    expect(await hostnames()).not.toContain(new URL(url!).hostname)
  })

  it('is ended by Ctrl-C while it still connects', async () => {
    const stalled = tcpServer((socket) => void socket.resume())
    const relayUrl = `https://relay.localhost:${await listening(stalled)}`
    const connected = once(stalled, 'connection')
    const command = svc(['expose', '80', '--relay', relayUrl])
    await connected
    command.interrupt()
    expect(await command.ended).toBe(0)
    expect([command.out, command.err]).toEqual([[], []])
    stalled.close()
  })

  it('says that the target is down, once for many visitors', async () => {
    const command = svc(['expose', String(await freePort()), '--json', ...at()])
    const { url } = await reported(command, 'online')
    for (let i = 0; i < 3; i++) {
      const answer = await visit(relay, url!)
      // visitors must not learn the address of the service
      expect([answer.statusCode, await text(answer)]).toEqual([
        502,
        'The server behind this site does not answer\n',
      ])
    }
    expect(await reported(command, 'error')).toMatchObject({
      code: 'target_unreachable',
      message: expect.stringMatching(/^nothing listens at http:\/\/localhost:\d+$/),
    })
    expect(command.out.filter((line) => line.includes('target_unreachable'))).toHaveLength(1)
  })

  it('trusts a CA file that begins with a byte-order mark', async () => {
    const ca = join(home, 'marked.pem')
    await writeFile(ca, `\uFEFF${relay.ca}`)
    const command = svc(['expose', String(targetPort), '--json', '--relay', relay.origin, '--ca', ca])
    await reported(command, 'online')
  })

  wholeOnly(it, 'variant')('is online at several relays, also when one of them is not there', async () => {
    const cas = join(home, 'both.pem')
    await writeFile(cas, `${relay.ca}\n${other.ca}`)
    const missing = `https://relay.localhost:${await freePort()}`
    const relays = ['--relay', `${relay.origin},${missing}`, '--relay', ` ${other.origin} `]
    const command = svc(['expose', ...relays, '--ca', cas, '--json', String(targetPort)])
    await expect.poll(() => command.out).toHaveLength(3)
    const reports = command.out.map((line) => JSON.parse(line))
    expect(reports.find(({ event }) => event === 'error')).toMatchObject({
      relay: missing,
      code: 'relay_unreachable',
    })
    const urls = reports.filter(({ event }) => event === 'online').map(({ url }) => url)
    expect(urls).toHaveLength(2)
    expect(await text(await visit(relay, urls[0]))).toBe('from the target')
    expect(await text(await visit(other, urls[1]))).toBe('from the target')
    command.interrupt()
    expect(await command.ended).toBe(0)
  })
})

describe('svc serve', () => {
  it('serves the folder', async () => {
    const folder = join(home, 'folder')
    await mkdir(folder)
    await writeFile(join(folder, 'a.txt'), 'content')
    await writeFile(join(folder, '_headers'), '/*.txt\n  X-Rule: yes\n')
    const command = svc(['serve', folder, '--listing', '--json', ...at()])
    const { url } = await reported(command, 'online')
    const served = await visit(relay, url!, '/a.txt')
    expect([served.headers['x-rule'], await text(served)]).toEqual(['yes', 'content'])
    expect(await text(await visit(relay, url!, '/'))).toContain('a.txt')
    expect((await visit(relay, url!, '/../identity.json')).statusCode).toBe(404)
  })
})

describe('svc identity', () => {
  it('shows the address, which stays', async () => {
    const path = join(home, 'mine.json')
    const first = svc(['identity', '--json', '--identity-path', path])
    expect(await first.ended).toBe(0)
    const report = JSON.parse(first.out[0]!)
    expect(report).toEqual({ event: 'identity', address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/), path })
    const second = svc(['identity'], { IDENTITY_PATH: path })
    expect(await second.ended).toBe(0)
    expect(second.out).toEqual([`${report.address}  ${path}`])
  })
})

it('tells its version and its commands', async () => {
  const [version, help] = [svc(['--version']), svc(['--help'])]
  expect([await version.ended, await help.ended]).toEqual([0, 0])
  expect(version.out).toEqual([sdkPackage.version])
  expect(help.out.join('\n')).toMatch(/ expose .* serve /s)
})

describe('bad input is one line and an exit code', () => {
  async function fails(args: string[], run = svc): Promise<[number, string]> {
    const command = run(args)
    const code = await command.ended
    expect(command.out).toEqual([])
    expect(command.err).toHaveLength(1)
    expect(command.err[0]).not.toContain('    at ')
    return [code, command.err[0]!]
  }

  it.each<[string, () => string[], number, string]>([
    ['no target', () => ['expose', ...at()], 2, 'a target is needed'],
    ['no relay', () => ['expose', '3000'], 2, 'give --relay URL, set SVC_URL, or'],
    [
      'an invalid target',
      () => ['expose', 'not a target', ...at()],
      2,
      'is not a port, host:port, unix:/path, or a URL (http, https, grpc, h2c)',
    ],
    ['an invalid port', () => ['expose', '--tcp', '99999', ...at()], 2, 'tcp "99999" is not a port'],
    ['two targets', () => ['expose', '80', '--tls', '443', ...at()], 2, 'exclude each other'],
    ['an unknown option', () => ['expose', '80', '--nonsense', ...at()], 2, "unknown option '--nonsense'"],
    ['an unknown command', () => ['frobnicate'], 2, "unknown command 'frobnicate'"],
    ['an invalid name', () => ['expose', '80', '--name', 'a.b', ...at()], 2, 'name must be one DNS label'],
    ['a name that is reserved', () => ['expose', '80', '--name', 'admin', ...at()], 4, 'reserves the name'],
    [
      'an invalid carrier',
      () => ['expose', '80', '--carrier', 'pigeon', ...at()],
      2,
      'native, native-sessions, websocket',
    ],
    ['a relay that is no URL', () => ['expose', '80', '--relay', 'relay'], 2, 'is not a URL'],
    ['the option of before', () => ['expose', '80', '--hide', ...at()], 2, 'unless it has --listed'],
    [
      'a relay without TLS',
      () => ['expose', '80', '--relay', 'http://a.example'],
      2,
      'must be an https: URL',
    ],
    [
      'a CA file that is not there',
      () => ['expose', '80', ...at().slice(0, 2), '--ca', '/none'],
      2,
      '--ca /none',
    ],
    ['a folder where a server is meant', () => ['expose', '.', ...at()], 2, 'svc serve .'],
    ['a path where a server is meant', () => ['expose', './dist', ...at()], 2, 'svc serve ./dist'],
    [
      'a CA file that is no PEM',
      () => ['expose', '80', ...at().slice(0, 2), '--ca', MAIN],
      2,
      'is no PEM certificate',
    ],
    [
      'a CA file of the target that is no PEM',
      () => ['expose', 'https://localhost:1', ...at(), '--target-ca', MAIN],
      2,
      'is no PEM certificate',
    ],
    [
      'a thumbnail that is not there',
      () => ['expose', '80', ...at(), '--thumbnail', './none.png'],
      2,
      '--thumbnail ./none.png cannot be read',
    ],
    [
      'a thumbnail that is no picture',
      () => ['expose', '80', ...at(), '--thumbnail', relay.caFile],
      2,
      'is not a picture: its name has to end in one of .avif',
    ],
    ['a folder that is not there', () => ['serve', '/none', ...at()], 2, 'there is no folder /none'],
    ['a relay that is not trusted', () => ['expose', '80', ...at().slice(0, 2)], 3, 'give --ca FILE'],
  ])('%s', async (_, args, code, message) => {
    const [exitCode, line] = await fails(args())
    expect(line).toContain(message)
    expect(exitCode).toBe(code)
  })

  it('a relay that is not there', async () => {
    const [code, line] = await fails([
      'expose',
      '80',
      '--relay',
      `https://relay.localhost:${await freePort()}`,
    ])
    expect([code, line]).toEqual([3, expect.stringContaining('nothing listens there')])
  })

  it('a name that is taken: the canonical URL is offered, and will do', async () => {
    const owner = svc(['expose', String(targetPort), '--name', 'taken', '--json', ...at()])
    await reported(owner, 'online')
    const mine = ['--name', 'taken', '--identity-path', join(home, 'mine.json'), ...at()]
    const [code, line] = await fails(['expose', String(targetPort), ...mine])
    expect([code, line]).toEqual([4, expect.stringContaining('--allow-canonical')])
    const command = svc(['expose', String(targetPort), '--allow-canonical', '--json', ...mine])
    const { url, canonical_url } = await reported(command, 'online')
    expect(url).toBe(canonical_url)
    expect(await text(await visit(relay, url!))).toBe('from the target')
  })

  it('a relay that gives no TCP ports', async () => {
    const [code, line] = await fails(['expose', '--tcp', '80', '--relay', other.origin, '--ca', other.caFile])
    expect([code, line]).toEqual([4, 'svc: this relay gives no TCP ports'])
  })

  it('a relay of another revision', async () => {
    const double = await RelayDouble.start()
    double.overrides['/sdk/domain'] = () => [200, { ok: true, data: { protocol_version: '11' } }]
    const ca = join(home, 'double.pem')
    await writeFile(ca, CERTIFICATE_PEM)
    const [code, line] = await fails(['expose', '80', '--relay', double.url, '--ca', ca])
    const reason = 'the relay speaks protocol 11, this SDK protocol 10: the SDK has to be upgraded'
    expect([code, line]).toEqual([5, `svc: ${reason}`])
    await double.crash()
  })

  it('an identity file that is broken, or open to others', async () => {
    const path = join(home, 'broken.json')
    await writeFile(path, '{"private_key": "0x00"}', { mode: 0o600 })
    expect(await fails(['identity', '--identity-path', path], svcProcess)).toEqual([
      6,
      expect.stringContaining('"private_key"'),
    ])
    await chmod(path, 0o644)
    expect(await fails(['expose', '80', '--identity-path', path, ...at()])).toEqual([
      6,
      expect.stringContaining('chmod 600'),
    ])
  })

  it('says so in JSON, too', async () => {
    const command = svc(['expose', '80', '--json', '--name', '-', ...at()])
    expect(await command.ended).toBe(2)
    expect(command.out.map((line) => JSON.parse(line))).toEqual([
      { event: 'failed', code: 'invalid_option', message: expect.any(String), exit_code: 2 },
    ])
    expect(command.err).toEqual([])
  })
})

// The last: the other relay takes nobody from here any more.
it('ends with 7 when the relay bans it', async () => {
  const command = svc(['expose', String(targetPort), '--json', '--relay', other.origin, '--ca', other.caFile])
  await reported(command, 'online')
  for (const ip of ['127.0.0.1', '::1']) await other.call('/api/policy/ips', { ip, is_banned: true })
  expect(await command.ended).toBe(7)
  expect(await reported(command, 'error')).toMatchObject({ relay: other.origin })
})
