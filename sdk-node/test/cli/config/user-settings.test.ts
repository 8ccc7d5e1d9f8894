// `svc config set`: what it remembers for later commands, what comes before it, and what it refuses.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { listening, text, visit } from '../../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../../support/relay.ts'
import { type Run, reported, runHere, runSvc } from '../../support/svc.ts'

let relay: TestRelay
let target: Server
let port: string
const other = useStarted(startTestRelay)
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => void response.end('from the target'))
  port = String(await listening(target))
})
afterAll(async () => {
  target.close()
  await relay.close()
})

let home: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-settings-'))
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  await rm(home, { recursive: true })
})

async function svc(args: string[], env: Record<string, string> = {}) {
  const { out, err, ended } = runHere(home, args, env)
  return { code: await ended, out, err }
}
const config = (...args: string[]) => svc(['config', ...args])

/** @returns the relay at which a tunnel of the command is online */
async function relayOf(args: string[], env: Record<string, string> = {}): Promise<string> {
  const run = runHere(home, [...args, '--json'], env)
  running.push(run)
  return (await reported(run, 'online')).relay!
}

const remember = async ({ origin, caFile }: TestRelay): Promise<void> => {
  expect(await config('set', 'relay', origin)).toEqual({ code: 0, out: [`relay = ${origin}`], err: [] })
  expect(await config('set', 'ca', caFile)).toEqual({ code: 0, out: [`ca = ${caFile}`], err: [] })
}

describe('what is remembered', () => {
  it('is enough for the executable to publish, and stands in a file for its owner alone', async () => {
    await remember(relay)
    const run = runSvc(home, ['expose', port, '--json'])
    running.push(run)
    const { url } = await reported(run, 'online')
    expect(await text(await visit(relay, url!))).toBe('from the target')
    const file = join(home, 'svc/settings.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ relay: [relay.origin], ca: relay.caFile })
    expect((await readdir(join(home, 'svc'))).filter((name) => name.startsWith('settings'))).toEqual([
      'settings.json',
    ])
  })

  it('is printed, and forgotten', async () => {
    expect(await config('list')).toEqual({ code: 0, out: [], err: [] })
    await config('set', 'relay', 'https://a.example', 'https://b.example')
    expect((await config('list')).out).toEqual(['relay = https://a.example,https://b.example'])
    expect((await config('get', 'relay')).out).toEqual(['https://a.example,https://b.example'])
    expect((await config('get', 'relay', '--json')).out).toEqual([
      '{"event":"value","key":"relay","value":["https://a.example","https://b.example"]}',
    ])
    expect((await config('unset', 'relay')).out).toEqual(['relay is not set'])
    expect((await config('get', 'relay')).code).toBe(2)
  })

  wholeOnly(it, 'variant')('keeps the whole path of a file', async () => {
    const run = runSvc(
      relay.caFile.slice(0, relay.caFile.lastIndexOf('/')),
      ['config', 'set', 'ca', 'ca.pem'],
      {
        XDG_CONFIG_HOME: home,
      },
    )
    expect(await run.ended).toBe(0)
    expect((await config('get', 'ca')).out).toEqual([relay.caFile])
  })
})

describe('what comes before it', () => {
  it('the command line, then SVC_URL; the CA is that of the remembered relay alone', async () => {
    await remember(other)
    const env = { NODE_EXTRA_CA_CERTS: relay.caFile }
    expect(await relayOf(['expose', port, '--relay', relay.origin, '--ca', relay.caFile])).toBe(relay.origin)
    const untrusted = await svc(['expose', port, '--relay', relay.origin])
    expect([untrusted.code, untrusted.err.join()]).toEqual([3, expect.stringContaining('not trusted')])
    const run = runSvc(home, ['expose', port, '--name', 'by-env', '--json'], {
      ...env,
      SVC_URL: relay.origin,
    })
    running.push(run)
    expect((await reported(run, 'online')).relay).toBe(relay.origin)
    expect(await relayOf(['expose', port])).toBe(other.origin)
  })

  wholeOnly(it, 'variant')('svc.toml, which svc start fills up with it', async () => {
    await remember(other)
    const file = join(home, 'svc.toml')
    await writeFile(file, `[[tunnel]]\nhttp = ${port}\n`)
    expect(await relayOf(['start', '--config', file])).toBe(other.origin)
    await writeFile(file, `relay = "${relay.origin}"\nca = "${relay.caFile}"\n[[tunnel]]\nhttp = ${port}\n`)
    expect(await relayOf(['start', '--config', file])).toBe(relay.origin)
  })

  wholeOnly(it, 'variant')('nothing else, for svc relays and svc doctor, too', async () => {
    await remember(relay)
    expect((await svc(['relays', '--json'])).out.map((line) => JSON.parse(line))).toMatchObject([
      { relay: relay.origin, healthy: true },
    ])
    expect((await svc(['doctor'])).err.join()).not.toContain('no relay')
  })
})

describe('what is refused', () => {
  it.each([
    [['set', 'relai', 'https://a.example'], 'there is no option relai: is relay meant?'],
    [['get', 'proxy'], 'svc config has relay and ca'],
    [['unset', 'toString'], 'there is no option toString'],
    [['set', 'relay', 'http://a.example'], 'relay http://a.example is not an https: URL'],
    [['set', 'relay', 'relay.example'], 'relay relay.example is not an https: URL'],
    [['set', 'ca', '/nowhere.pem'], 'ca /nowhere.pem cannot be read'],
    [['set', 'ca', 'a.pem', 'b.pem'], 'ca is one file'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await config(...args)
    expect({ code, out, err: err.join() }).toEqual({
      code: 2,
      out: [],
      err: expect.stringContaining(message),
    })
  })

  it.each(['{', '[]', '{"relay":"https://a.example"}', '{"ca":1}'])(
    'a file that holds %s',
    async (content) => {
      await config('set', 'relay', 'https://a.example')
      await writeFile(join(home, 'svc/settings.json'), content)
      const { code, err } = await svc(['expose', port])
      expect([code, err.join()]).toEqual([2, expect.stringContaining('settings.json is invalid')])
    },
  )
})
