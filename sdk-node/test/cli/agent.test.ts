// The commands of `svc agent`: an agent in the background, what it says of itself, and every way in which there is none.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { AgentEndpoint } from '../../src/agent/api-messages.ts'
import { type AgentHome, ANY_PORT, makeHome, NOWHERE } from '../support/agent.ts'
import { TEST_TIMEOUT_MS } from '../support/exposed.ts'
import { runSvc } from '../support/svc.ts'

vi.setConfig({ testTimeout: 2 * TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS })

const FILE = `relay = "${NOWHERE}"\n${ANY_PORT}\n[[tunnel]]\nname = "web"\nhttp = 3000\n`
let home: AgentHome
beforeEach(async () => {
  home = await makeHome(FILE)
})
afterEach(async () => {
  // only this agent, and only when a test left it
  const endpoint = await home.endpoint().catch(() => undefined)
  if (endpoint !== undefined && endpoint.pid !== 1) {
    try {
      process.kill(endpoint.pid, 'SIGKILL')
    } catch {
      // it has ended
    }
  }
  await home.remove()
})

async function svc(...args: string[]): Promise<{ code: number; out: string[]; err: string[] }> {
  const { ended, out, err } = runSvc(home.path, ['agent', ...args, '--state-dir', home.state])
  return { code: await ended, out, err }
}

wholeOnly(it, 'clock')(
  'runs in the background until it is stopped; restart keeps its file and makes a new token',
  async () => {
    const started = await svc('run')
    const endpoint = await home.endpoint()
    const line = ({ url, pid }: AgentEndpoint) => `the agent runs at ${url}  pid ${pid}  ${home.config}`
    expect(started).toEqual({ code: 0, out: [line(endpoint)], err: [] })
    expect(await svc('run')).toEqual({
      code: 2,
      out: [],
      err: [`svc: an agent is already running at ${endpoint.url} (pid ${endpoint.pid})`],
    })
    const status = await svc('status')
    expect([status.code, status.out[0]]).toEqual([0, line(endpoint)])
    expect(status.out[1]).toMatch(/^web/)
    const reports = (await svc('status', '--json')).out.map((text) => JSON.parse(text))
    expect(reports[0]).toEqual({
      event: 'agent',
      state: 'running',
      url: endpoint.url,
      pid: endpoint.pid,
      config: home.config,
    })
    const opened = await svc('open')
    expect(opened.out[0]).toMatch(new RegExp(`^${endpoint.url}/#ticket=[\\w-]{43}$`))

    const restarted = await svc('restart')
    const next = await home.endpoint()
    expect(restarted).toEqual({
      code: 0,
      out: [`the agent has ended  pid ${endpoint.pid}`, line(next)],
      err: [],
    })
    expect(next.token).not.toBe(endpoint.token)
    expect(await svc('stop')).toEqual({ code: 0, out: [`the agent has ended  pid ${next.pid}`], err: [] })
    expect(await readdir(home.state)).not.toContain('agent-endpoint.json')
    const logs = await svc('logs')
    expect(logs.out.at(-1)).toMatch(new RegExp(`^\\S+Z  the agent has ended  pid ${next.pid}$`))
    const events = (await svc('logs', '--json', '--lines', '1')).out.map((text) => JSON.parse(text))
    expect(events).toEqual([expect.objectContaining({ event: 'agent', state: 'stopped', pid: next.pid })])
    for (const secret of [endpoint.token, next.token])
      expect(await readFile(join(home.state, 'agent.log'), 'utf8')).not.toContain(secret)
  },
)

wholeOnly(it, 'variant')('says in one line that no agent runs, also when one was killed', async () => {
  const nobody = { code: 3, out: [], err: ['svc: no agent is running: svc agent run starts one'] }
  for (const command of ['stop', 'restart', 'status', 'open']) expect(await svc(command)).toEqual(nobody)
  await svc('run')
  const { pid, url } = await home.endpoint()
  process.kill(pid, 'SIGKILL')
  const killed = await svc('status')
  expect([killed.code, killed.err]).toEqual([
    3,
    [`svc: no agent is running; the one at ${url} (pid ${pid}) is gone: svc agent run starts one`],
  ])
  expect((await svc('run')).code).toBe(0)
  expect((await svc('stop')).code).toBe(0)
})

wholeOnly(it, 'variant')('passes on why it cannot start in the background', async () => {
  await writeFile(home.config, FILE.replace('http = 3000', 'htpp = 3000'))
  const wrong = await svc('run')
  expect([wrong.code, wrong.out]).toEqual([2, []])
  expect(wrong.err).toEqual([expect.stringContaining(`${home.config}: tunnel 1: htpp is not known`)])
  await writeFile(home.config, FILE.replace('127.0.0.1:0', '0.0.0.0:0'))
  expect(await svc('run', '--json')).toMatchObject({
    code: 2,
    out: [expect.stringContaining('"code":"address_refused"')],
  })
})

it('in the foreground ends at Ctrl-C, reads its file again at SIGHUP, and is restarted by whoever runs it', async () => {
  const run = runSvc(home.path, ['agent', 'start', '--foreground', '--json', '--state-dir', home.state])
  await expect.poll(() => run.out.length).toBeGreaterThan(0)
  const restart = await svc('restart')
  expect([restart.code, restart.err]).toEqual([2, [expect.stringContaining('runs in the foreground')]])
  await writeFile(home.config, `${FILE}\n[[tunnel]]\nname = "later"\nhttp = 1\npaused = true\n`)
  run.child.kill('SIGHUP')
  await expect.poll(async () => (await svc('status')).out.at(-1), { interval: 500 }).toBe('later  paused')
  run.child.kill('SIGINT')
  expect(await run.ended).toBe(0)
  expect(await readdir(home.state)).not.toContain('agent-endpoint.json')
})
