// `svc agent dashboard` at a running agent: keys change svc.toml through the API, and the end of the view is not that of the agent.

import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { runCommand } from '../../src/cli/run-command.ts'
import { ANY_PORT, makeHome, NOWHERE, startAgent } from '../support/agent.ts'
import { environment } from '../support/svc.ts'

it('attaches to the agent, pauses a tunnel by a key, and leaves the agent running', async () => {
  const home = await makeHome(`${ANY_PORT}[[tunnel]]\nname = "demo"\nrelay = "${NOWHERE}"\nhttp = 3000\n`)
  const agent = await startAgent(home)
  try {
    let frame = ''
    const terminal = Object.assign(new EventEmitter(), {
      columns: 120,
      rows: 40,
      write: (text: string) => {
        frame = text
      },
    })
    const keyboard = Object.assign(new EventEmitter(), { setRawMode() {}, resume() {}, pause() {} })
    const ended = runCommand(['agent', 'dashboard', '--state-dir', home.state], {
      env: environment(home.path),
      print: console,
      terminal,
      keyboard,
      asked: () => new AbortController().signal,
    })
    await vi.waitFor(() => expect(frame).toContain('▸ demo'))
    expect(frame).toContain(agent.endpoint.url)
    keyboard.emit('data', 'p')
    await vi.waitFor(() => expect(frame).toContain('demo is paused'))
    expect(await home.read()).toContain('paused = true')
    keyboard.emit('data', 'q')
    expect(await ended).toBe(0)
    expect((await agent.status()).tunnels).toMatchObject([{ name: 'demo', state: 'paused' }])
  } finally {
    await agent.stop()
    await home.remove()
  }
})
