// The units in the eyes of systemd itself, and the service for real: installed, gone with a reboot and back, removed.

import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it as every, expect } from 'vitest'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { type Machine, planInstallation } from '../../../src/cli/service/installation-plan.ts'
import { startTestRelay } from '../../support/relay.ts'
import { MAIN } from '../../support/svc.ts'
import { runWithManager, whyNoUserManager } from '../../support/user-manager.ts'

const it = wholeOnly(every, 'variant')

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).error === undefined
const why = whyNoUserManager()
/** Everything that systemd takes for more than itself. */
const ODD = 'a b 100%h $HOME "q" \'s\' \\n ;#é'

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'svc-systemd-')), ODD)
  await mkdir(folder)
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

describe.skipIf(!hasAnalyze)('systemd-analyze verify (needs systemd-analyze)', () => {
  it.each([undefined, 'root'])('takes the unit, and its odd paths, for account %s', async (account) => {
    const program = join(folder, '..', 'a 100%h $HOME ;#é')
    await writeFile(program, '#!/bin/sh\n')
    await chmod(program, 0o755)
    const machine: Machine = { platform: 'linux', env: {}, home: folder, user: 'a', uid: 0 }
    const { text } = planInstallation(
      { command: [program, ODD], environment: { NAME: ODD }, writable: [folder], account },
      machine,
    )
    const file = join(folder, '..', 'svc-agent.service')
    await writeFile(file, text)
    const scope = account === undefined ? ['--user'] : []
    const { status, stderr } = spawnSync('systemd-analyze', [...scope, 'verify', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    })
    // what it says of units of the machine is no matter here
    expect({ status, said: stderr.split('\n').filter((line) => line.includes('svc-agent')) }).toEqual({
      status: 0,
      said: [],
    })
  })
})

describe.skipIf(why !== undefined)(`a manager of systemd${why === undefined ? '' : ` (${why})`}`, () => {
  it('starts the agent at once and after a reboot, and not after it is removed', async () => {
    const relay = await startTestRelay()
    try {
      await writeFile(
        join(folder, 'svc.toml'),
        `relay = "${relay.origin}"\nca = "${relay.caFile}"\n[agent]\ncontrol_addr = "127.0.0.1:0"\n[[tunnel]]\nname = "booted"\nfolder = "."\n`,
      )
      const output = await runWithManager(
        folder,
        `svc() { "$NODE" "$MAIN" "$@"; }
        online() { until svc agent status --json 2> /dev/null | grep '"state":"online"'; do sleep 1; done; }
        cd "$HOME"
        boot
        svc agent install --json
        online
        shut_down
        svc agent status --json || true
        boot
        online
        svc agent uninstall --json
        svc agent status --json || true
        shut_down`,
        { NODE: process.execPath, MAIN },
      )
      const reports = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const path = join(folder, '.config/systemd/user/svc-agent.service')
      expect(reports).toMatchObject([
        { event: 'service', state: 'installed', path },
        // nobody can linger where logind is not there
        { event: 'error', code: 'service_incomplete' },
        { event: 'status', tunnel: 'booted', state: 'online' },
        { event: 'failed', code: 'agent_unavailable' },
        { event: 'status', tunnel: 'booted', state: 'online' },
        { event: 'service', state: 'removed', path },
        { event: 'failed', code: 'agent_unavailable' },
      ])
      expect(reports[4].pid).not.toBe(reports[2].pid)
      expect(reports[4].url).toBe(reports[2].url)
    } finally {
      await relay.close()
    }
  })
})
