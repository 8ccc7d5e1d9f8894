// `svc-relay` as an operator runs it: help, version, and one clear line for what it cannot do.

import { describe, expect, test } from 'vitest'
import relayPackage from '../../package.json' with { type: 'json' }
import { SETTINGS } from '../../src/config/settings.ts'
import { svcRelay } from '../support/svc-relay.ts'

describe('svc-relay', () => {
  test.each(['--help', '-h'])('%s lists every setting with its meaning and default', async (flag) => {
    const { code, stdout, stderr } = await svcRelay([flag])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.split('\n').map((line) => line.replace(/ +/g, ' '))
    for (const { name, meaning, default: value } of SETTINGS)
      expect(lines).toContain(` ${name} ${meaning} [${value}]`)
  })

  test.each(['--version', '-v'])('%s is the release', async (flag) => {
    expect(await svcRelay([flag])).toMatchObject({ code: 0, stdout: `${relayPackage.version}\n` })
  })

  test.each([['--port'], ['start'], ['--help=yes'], ['-x'], ['check --fast'], ['healthcheck now']])(
    '%s is not understood',
    async (argument) => {
      const { code, stdout, stderr } = await svcRelay(argument.split(' '), {
        SVC_URL: 'https://relay.localhost:4433',
      })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/svc-relay --help lists commands and settings\.\n$/)
    },
  )

  test('a setting that cannot be is one line that names it and what it may be', async () => {
    expect(await svcRelay([])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^svc-relay: SVC_URL: .*\n$/),
    })
    const env = { SVC_URL: 'https://relay.localhost:4433', UDP_ENABLED: 'maybe' }
    expect(await svcRelay([], env)).toMatchObject({
      code: 1,
      stderr: 'svc-relay: UDP_ENABLED: one of true, false is needed\n',
    })
  })
})
