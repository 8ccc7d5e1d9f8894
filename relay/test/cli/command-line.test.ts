// `svc-relay` as an operator runs it: help, version, and one clear line for what it cannot do.

import { describe, expect, test } from 'vitest'
import relayPackage from '../../package.json' with { type: 'json' }
import { readCommandLine } from '../../src/cli/command-line.ts'
import { SettingsError } from '../../src/core/config/settings.ts'
import { readSettings, SETTINGS } from '../../src/settings.ts'
import { svcRelay } from '../support/svc-relay.ts'

const SVC_URL = 'https://relay.localhost:4433'

describe('svc-relay', () => {
  test.each(['--help', '-h'])('%s lists every setting with its meaning and default', (flag) => {
    const command = readCommandLine([flag])
    expect(command).toMatchObject({ name: 'print', isError: false })
    const { text } = command as { text: string }
    const lines = text.split('\n').map((line) => line.replace(/ +/g, ' '))
    for (const { name, meaning, default: value } of SETTINGS)
      expect(lines).toContain(` ${name} ${meaning} [${value}]`)
  })

  test.each(['--version', '-v'])('%s is the release', (flag) => {
    expect(readCommandLine([flag])).toEqual({ name: 'print', text: relayPackage.version, isError: false })
  })

  test.each([['--port'], ['start'], ['--help=yes'], ['-x'], ['check --fast'], ['healthcheck now']])(
    '%s is not understood',
    (argument) => {
      expect(readCommandLine(argument.split(' '))).toEqual({
        name: 'print',
        text: expect.stringMatching(/svc-relay --help lists commands and settings\.$/),
        isError: true,
      })
    },
  )

  test('prints an answer and ends with 0, or one about its arguments and ends with 2', async () => {
    const [version, mistake] = await Promise.all([svcRelay(['-v']), svcRelay(['start'], { SVC_URL })])
    expect(version).toEqual({ code: 0, stdout: `${relayPackage.version}\n`, stderr: '' })
    expect(mistake).toMatchObject({ code: 2, stdout: '' })
    expect(mistake.stderr).toMatch(/svc-relay --help lists commands and settings\.\n$/)
  })

  test('a setting that cannot be is one line that names it and what it may be', async () => {
    expect(() => readSettings({})).toThrow(
      expect.objectContaining({ name: SettingsError.name, message: expect.stringMatching(/^SVC_URL: .*$/) }),
    )
    expect(await svcRelay([], { SVC_URL, UDP_ENABLED: 'maybe' })).toMatchObject({
      code: 1,
      stderr: 'svc-relay: UDP_ENABLED: one of true, false is needed\n',
    })
  })
})
