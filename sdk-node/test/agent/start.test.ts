// The start of an agent: its address, its state directory and its endpoint file, and what it says where it cannot start.

import { chmod, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT_PATH } from '../../src/agent/api-messages.ts'
import { resolveControlAddress } from '../../src/agent/control-address.ts'
import { findRunning } from '../../src/agent/endpoint-file.ts'
import { LogFile, lastLines } from '../../src/agent/log-file.ts'
import { StateDirectory, stateDirectoryOf } from '../../src/agent/state-directory.ts'
import {
  type AgentHome,
  ANY_PORT,
  makeHome,
  NOWHERE,
  type RunningAgent,
  startAgent,
} from '../support/agent.ts'
import { listening } from '../support/exposed.ts'

const FILE = `relay = "${NOWHERE}"\n${ANY_PORT}`
let home: AgentHome
const running: RunningAgent[] = []
const start = async (of = home): Promise<RunningAgent> => {
  const agent = await startAgent(of)
  running.push(agent)
  return agent
}
beforeEach(async () => {
  home = await makeHome(FILE)
})
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop()
  await home.remove()
})

describe('agent.control_addr', () => {
  it.each([
    ['127.0.0.1:4018', '127.0.0.1', 4018],
    ['127.9.9.9:0', '127.9.9.9', 0],
    ['[::1]:65535', '::1', 65_535],
    ['localhost:1', '127.0.0.1', 1],
  ])('may be %s', async (text, host, port) => {
    expect(await resolveControlAddress(text)).toEqual({ host, port })
  })

  it.each([
    '0.0.0.0:4018',
    '[::]:4018',
    '192.0.2.1:4018',
    '[::ffff:192.0.2.1]:4018',
    '[127.0.0.1]:4018',
    '127.0.0.1',
    '127.0.0.1:65536',
    ':4018',
    'localhost:',
    '::1:4018',
    'http://127.0.0.1:4018',
    'no-such-host.invalid:4018',
  ])('may not be %s', async (text) => {
    await expect(resolveControlAddress(text)).rejects.toMatchObject({
      code: 'address_refused',
      message: expect.stringMatching(/^agent\.control_addr .* listens on the loopback interface only$/),
    })
  })

  it('is refused when its name leads elsewhere, too', async () => {
    const { hostname } = await import('node:os')
    const found = await resolveControlAddress(`${hostname()}:1`).catch((error) => error)
    // the name of this machine is one of a real network, or of nothing else than this machine
    expect(found.code ?? (found.host === '::1' || found.host.startsWith('127.'))).toSatisfy(
      (outcome: unknown) => outcome === 'address_refused' || outcome === true,
    )
  })

  it('that is in use is told with what to do', async () => {
    const other = createServer()
    const port = await listening(other)
    await home.write(FILE.replace(':0', `:${port}`))
    await expect(start()).rejects.toMatchObject({
      code: 'address_in_use',
      message: expect.stringMatching(
        new RegExp(`^port ${port} of 127.0.0.1 is in use: .*agent.control_addr`),
      ),
    })
    other.close()
    expect(await readdir(home.state)).not.toContain('agent-endpoint.json')
  })

  it('may be of IPv6', async () => {
    await home.write(FILE.replace('127.0.0.1:0', '[::1]:0'))
    const agent = await start()
    expect(agent.endpoint.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await agent.status()).tunnels).toEqual([])
  })
})

describe('the state directory', () => {
  it('that others may read is refused in one line', async () => {
    await chmod(home.state, 0o750)
    await expect(start()).rejects.toMatchObject({
      code: 'state_unusable',
      message: `the state directory ${home.state} is open to others: run chmod 700 on it`,
    })
  })

  it('that is a file is refused', async () => {
    await expect(new StateDirectory(home.config).open()).rejects.toMatchObject({ code: 'state_unusable' })
  })

  it('is made for its owner alone, with the endpoint', async () => {
    home.state = join(home.path, 'a/b')
    home.endpointFile = join(home.state, 'agent-endpoint.json')
    const agent = await start()
    expect((await stat(home.state)).mode & 0o777).toBe(0o700)
    expect((await stat(home.endpointFile)).mode & 0o777).toBe(0o600)
    expect(agent.endpoint).toMatchObject({ pid: process.pid, token: expect.stringMatching(/^[\w-]{43}$/) })
  })

  it('is where XDG, or systemd, says', () => {
    expect(stateDirectoryOf({ XDG_STATE_HOME: '/a' })).toBe('/a/svc/agent')
    expect(stateDirectoryOf({ XDG_STATE_HOME: '/a', STATE_DIRECTORY: '/b:/c' })).toBe('/b')
  })

  it('has one identity a tunnel, whatever its name is', () => {
    const directory = new StateDirectory('/s')
    expect(directory.identity('Demo')).toBe(directory.identity('demo'))
    expect(directory.identity('../x')).toBe('/s/identities/..%2Fx.json')
    expect(directory.identity(undefined)).toBe('/s/identity.json')
  })
})

describe('the endpoint', () => {
  it('has a new token at each start, and is gone when the agent has ended', async () => {
    const first = await start()
    await first.stop()
    running.length = 0
    expect(await readdir(home.state)).not.toContain('agent-endpoint.json')
    const second = await start()
    expect(second.endpoint.token).not.toBe(first.endpoint.token)
    expect(await readdir(home.state)).toEqual(['agent-endpoint.json', 'agent.log'])
  })

  it('keeps a second agent off, which leaves it as it is', async () => {
    const { endpoint, status } = await start()
    await expect(start()).rejects.toMatchObject({
      code: 'agent_running',
      message: `an agent is already running at ${endpoint.url} (pid ${endpoint.pid})`,
    })
    expect(await home.endpoint()).toEqual(endpoint)
    await status()
  })

  it('of several that start at once belongs to one of them', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => start()))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await findRunning(home.endpointFile)).toEqual(running[0]!.endpoint)
  })

  it.each([
    ['of a killed agent', (url: string) => JSON.stringify({ url, token: 'a', pid: 1 })],
    ['of another program', () => JSON.stringify({ url: 'http://192.0.2.1:1', token: 'a', pid: 1 })],
    ['that is cut off', () => '{"url":'],
    ['that is empty', () => ''],
  ])('%s is replaced', async (_, text) => {
    const other = createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
    const port = await listening(other)
    await writeFile(home.endpointFile, text(`http://127.0.0.1:${port}`), { mode: 0o600 })
    const { endpoint } = await start()
    expect(await findRunning(home.endpointFile)).toEqual(endpoint)
    other.close()
  })
})

it('a broken svc.toml is told by line, and a wrong field by its name; nothing is started', async () => {
  await home.write(`${FILE}[[tunnel]\n`)
  await expect(start()).rejects.toMatchObject({ message: expect.stringContaining(`${home.config}:4:`) })
  await home.write(`${FILE}[[tunnel]]\nhttp = true\n`)
  await expect(start()).rejects.toMatchObject({
    message: `${home.config}: tunnel 1: http is not a port or a string`,
  })
  expect(await readdir(home.state)).toEqual([])
})

it('svc.toml may be a link, which stays one when the file is changed', async () => {
  const target = join(home.path, 'real.toml')
  await writeFile(target, FILE, { mode: 0o640 })
  await chmod(target, 0o640)
  home.config = join(home.path, 'link.toml')
  await symlink('real.toml', home.config)
  const agent = await start()
  await agent.ask('POST', AGENT_PATH.addTunnel, { settings: { name: 'a', http: 1 } })
  expect((await stat(target)).mode & 0o777).toBe(0o640)
  expect(await readdir(home.path)).toEqual(expect.arrayContaining(['link.toml', 'real.toml']))
  expect((await import('node:fs')).lstatSync(home.config).isSymbolicLink()).toBe(true)
})

describe('the log', () => {
  it('is bounded, and keeps the file before', async () => {
    const path = join(home.path, 'a.log')
    const log = new LogFile(path, 1000)
    for (let at = 0; at < 40; at++) {
      log.write({ event: 'error', at, message: 'm'.repeat(at === 20 ? 10_000 : 40) })
      if (at % 5 === 0) await log.flush()
    }
    await log.flush()
    const kept = await lastLines(path, 1000)
    expect(kept.length).toBeLessThan(40)
    expect(JSON.parse(kept.at(-1)!)).toMatchObject({ at: 39 })
    for (const file of [path, `${path}.1`]) expect((await stat(file)).size).toBeLessThanOrEqual(5000)
    expect(await lastLines(path, 2)).toHaveLength(2)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('that cannot be written costs lines, and nothing else', async () => {
    const log = new LogFile(join(home.path, 'no/such/folder.log'))
    for (let at = 0; at < 10_000; at++) log.write({ event: 'error', message: 'm'.repeat(100) })
    await log.flush()
  })

  it('has neither the token nor a ticket', async () => {
    const agent = await start()
    const { ticket } = await agent.ask<{ ticket: string }>('POST', AGENT_PATH.ticket, {})
    await agent.ask('POST', AGENT_PATH.redeem, { ticket })
    await agent.ask('POST', AGENT_PATH.redeem, { ticket }).catch(() => {})
    const { lines } = await agent.ask<{ lines: string[] }>('GET', AGENT_PATH.logs)
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of [agent.endpoint.token, ticket]) expect(lines.join('\n')).not.toContain(secret)
  })
})
