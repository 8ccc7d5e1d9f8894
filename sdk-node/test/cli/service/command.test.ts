// `svc agent install` and `svc agent dashboard` as commands: what they print, and the one line for each thing that is wrong.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runHere } from '../../support/svc.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-install-'))
})
afterEach(() => rm(home, { recursive: true }))

async function run(args: string[], env: Record<string, string> = {}) {
  const state = ['--state-dir', join(home, 'state')]
  const { out, err, ended } = runHere(home, ['agent', ...args, ...state], env)
  return { code: await ended, out: out.join('\n'), err: err.join('\n') }
}

describe.runIf(process.platform === 'linux')('svc agent install --print', () => {
  it('shows the unit with this program, the file and the variables of the shell, and installs nothing', async () => {
    const config = join(home, 'my svc.toml')
    const env = { SVC_URL: 'https://relay.example', NODE_EXTRA_CA_CERTS: 'ca.pem' }
    const { code, out, err } = await run(['install', '--print', '--config', config], env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`ExecStart=":${process.execPath}" `)
    expect(out).toContain(
      ` "agent" "run" "--foreground" "--config" "${config}" "--state-dir" "${home}/state"\n`,
    )
    expect(out).toContain('\nEnvironment="SVC_URL=https://relay.example"\n')
    expect(out).toContain(`\nEnvironment="NODE_EXTRA_CA_CERTS=${resolve('ca.pem')}"\n`)
    expect(out).toContain(`\nEnvironment="XDG_CONFIG_HOME=${home}"\n`)
    expect(out).not.toContain('\nUser=')
  })

  it('shows the unit of the system, under an account that somebody named', async () => {
    const named = await run(['install', '--print', '--system', '--account', 'tunnels'])
    expect(named.out).toContain('\nUser=tunnels\n')
    expect(named.out).not.toContain('XDG_CONFIG_HOME')
    const caller = await run(['install', '--print', '--system'], { SUDO_USER: 'ada' })
    expect(caller.out).toContain('\nUser=ada\n')
    expect(await run(['install', '--print', '--system'], { SUDO_USER: '' })).toEqual({
      code: 2,
      out: '',
      err: 'svc: a service of the system runs under an account: name one with --account',
    })
  })
})

it('installs nothing for a file that is broken or not there', async () => {
  const config = join(home, 'svc.toml')
  const missing = await run(['install', '--config', config])
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining(`${config} cannot be read`) })
  await writeFile(config, 'relay = "https://relay.example"\n[[tunnel]\n')
  const broken = await run(['install', '--config', config])
  expect(broken).toMatchObject({ code: 2, err: expect.stringContaining(`${config}:2:`) })
})

it('the live view needs a terminal', async () => {
  expect(await run(['dashboard'])).toEqual({
    code: 2,
    out: '',
    err: 'svc: the live view needs a terminal: svc agent status prints the state',
  })
})
