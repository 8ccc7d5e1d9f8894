// A site at a relay that lets nobody register without an invitation, from `publish` and from `svc expose`.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { publish, type Site } from '../../src/index.ts'
import { listening } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

let relay: TestRelay
beforeAll(async () => {
  relay = await startTestRelay({ REGISTRATION: 'token' })
})
afterAll(() => relay.close())

interface Made {
  token: string
  invitation: { id: string }
}

const ask = async <T>(path: string, body: object): Promise<T> => (await relay.call(path, body)).data as T
const invite = (names = 1): Promise<Made> => ask('/api/policy/invitations', { names })

let number = 100
const sites: Site[] = []
async function start(options: { name: string; invitation?: string; ttl?: number }): Promise<Site> {
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identity: new Uint8Array(32).fill(number++),
    fetch: () => new Response('hello'),
    ...options,
  })
  sites.push(site)
  return site
}
afterEach(async () => {
  for (const site of sites.splice(0)) await site.close()
})

describe('publish', () => {
  test('with an invitation comes in; without, with a wrong and with a used one it says why (protocol §4.7.1)', async () => {
    const { token } = await invite()
    const site = await start({ name: 'invited', invitation: token })
    expect(site.url).toContain('invited.')
    await expect(start({ name: 'stranger' })).rejects.toMatchObject({
      code: 'invitation_required',
      message: expect.stringContaining('operator'),
    })
    await expect(start({ name: 'guesser', invitation: 'svc-invitation-guess' })).rejects.toMatchObject({
      code: 'invitation_rejected',
      message: expect.stringContaining('not known'),
    })
    await expect(start({ name: 'second', invitation: token })).rejects.toMatchObject({
      code: 'invitation_rejected',
      message: expect.stringContaining('used up'),
    })
  })

  test('a site whose invitation is withdrawn goes offline, and says so', async () => {
    const { token, invitation } = await invite()
    const site = await start({ name: 'leaver', invitation: token })
    const errors: string[] = []
    site.addEventListener('error', ({ error }) => errors.push(error.code))
    await ask('/api/policy/invitations/withdraw', { id: invitation.id })
    // Its lease ends, and the relay refuses the next one.
    await expect.poll(() => errors, { timeout: 20_000 }).toContain('invitation_rejected')
    expect(site.urls).toEqual([])
  })

  test('an invitation is a string', async () => {
    await expect(start({ name: 'wrong', invitation: 7 as never })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('invitation must be a string'),
    })
  })
})

describe('svc', () => {
  let home: string
  let target: Server
  let port: number
  const running: Run[] = []
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-invitation-'))
    await copyFile(relay.caFile, join(home, 'ca.pem'))
    target = createServer((_request, response) => response.end('hello'))
    port = await listening(target)
  })
  afterEach(async () => {
    for (const run of running.splice(0)) await run.stop()
  })
  afterAll(async () => {
    target.close()
    await rm(home, { recursive: true })
  })

  function svc(args: string[], env: Record<string, string> = {}): Run {
    const run = runHere(home, [...args, '--json'], env)
    running.push(run)
    return run
  }
  const exposed = (name: string, args: string[], env: Record<string, string> = {}): Run =>
    svc(
      ['expose', `${port}`, '--name', name, '--relay', relay.origin, '--ca', join(home, 'ca.pem'), ...args],
      env,
    )

  test('takes it from --invitation, a file, SVC_INVITATION and svc.toml, relative to that file', async () => {
    const { token } = await invite(4)
    const file = join(home, 'invitation.txt')
    await writeFile(file, `${token}\n`)
    const config = `relay = "${relay.origin}"\nca = "ca.pem"\n[[tunnel]]\nname = "by-toml"\nhttp = ${port}\ninvitation = "@invitation.txt"\n`
    await writeFile(join(home, 'svc.toml'), config)
    const runs = [
      exposed('by-flag', ['--invitation', token]),
      exposed('by-file', ['--invitation', `@${file}`]),
      exposed('by-variable', [], { SVC_INVITATION: token }),
      svc(['start', '--config', join(home, 'svc.toml')]),
    ]
    const reports = await Promise.all(runs.map((run) => reported(run, 'online')))
    expect(reports.map(({ url }) => url?.match(/by-\w+/)?.[0])).toEqual([
      'by-flag',
      'by-file',
      'by-variable',
      'by-toml',
    ])
    for (const { out, err } of runs) expect([...out, ...err].join()).not.toContain(token)
  })

  test('without one says who gives it out, and ends', async () => {
    const run = exposed('uninvited', [])
    expect(await run.ended).not.toBe(0)
    expect([...run.out, ...run.err].join('\n')).toContain('ask its operator for one')
  })
})
