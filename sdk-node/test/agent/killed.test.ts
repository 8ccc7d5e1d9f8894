// An agent that is killed at each step of a change to svc.toml: the file is the old one or the new one, and the next agent runs it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it as every, expect, vi } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { askAgent } from '../../src/agent/agent-client.ts'
import { AGENT_PATH } from '../../src/agent/api-messages.ts'
import { parseToml } from '../../src/cli/config/toml.ts'
import { V8_FLAGS } from '../../src/cli/v8-flags.ts'
import { ANY_PORT, makeHome, NOWHERE, startAgent } from '../support/agent.ts'
import { TEST_TIMEOUT_MS } from '../support/exposed.ts'
import { environment, MAIN } from '../support/svc.ts'

const it = wholeOnly(every, 'faults')

vi.setConfig({ testTimeout: 2 * TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS })

const HOOK = join(import.meta.dirname, 'kill-at-step.ts')
const OLD = `# mine\nrelay = "${NOWHERE}"\n${ANY_PORT}\n[[tunnel]]\nname = "one" # paused\npaused = true\nhttp = 3000\n`
/** More than any change has: the loop ends with the first that is not killed. */
const STEPS_MAX = 40
/** A slice kills it at every third step: each costs the start of two agents. */
const STRIDE: number = atDepth(1, 3)

it('leaves svc.toml whole at each step of a change, and nothing beside it', async () => {
  const outcomes: string[] = []
  for (let at = 1; at <= STEPS_MAX && outcomes.at(-1) !== 'not killed'; at += STRIDE) {
    const home = await makeHome(OLD)
    const armed = join(home.path, 'kill-at')
    const env = environment(home.path, { KILL_AT_FILE: armed })
    const run = ['agent', 'run', '--foreground', '--json', '--config', home.config, '--state-dir', home.state]
    const child = spawn(process.execPath, [...V8_FLAGS, '--import', HOOK, MAIN, ...run], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(child, 'exit')
    await once(createInterface(child.stdout), 'line')
    await writeFile(armed, String(at))
    const settings = { name: 'two', http: 3001, paused: true }
    const answered = await askAgent(await home.endpoint(), 'POST', AGENT_PATH.addTunnel, { settings }).then(
      () => true,
      () => false,
    )
    if (answered) child.kill('SIGKILL')
    const [, signal] = await ended
    expect(signal).toBe('SIGKILL')

    const text = await home.read()
    const isNew = text !== OLD
    const { tunnel } = parseToml(text) as { tunnel: { name: string }[] }
    expect([text.startsWith(OLD), tunnel.map(({ name }) => name)]).toEqual([
      true,
      isNew ? ['one', 'two'] : ['one'],
    ])
    outcomes.push(answered ? 'not killed' : isNew ? 'new' : 'old')
    const next = await startAgent(home)
    expect((await next.status()).tunnels.map(({ name }) => name)).toEqual(tunnel.map(({ name }) => name))
    await next.stop()
    expect((await readdir(home.path)).toSorted()).toEqual(['kill-at', 'state', 'svc.toml'])
    await home.remove()
  }
  // it is the old one until one step makes it the new one
  expect(outcomes.at(-1)).toBe('not killed')
  expect(outcomes.filter((outcome) => outcome === 'old').length).toBeGreaterThan(5 / STRIDE)
  expect(outcomes.slice(0, outcomes.indexOf('new'))).toEqual(Array(outcomes.indexOf('new')).fill('old'))
})
