// The Debian packages: their settings file, their unit, and the files that dpkg gets. Real systems are `npm run interop -- debian`.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readSettings, SETTINGS } from '../../relay/src/settings.ts'
import { root } from '../../tools/programs/command.ts'
import { buildPackage } from '../deb/build-package.ts'
import { commandPackage, debianVersion, type Release, relayPackage } from '../deb/packages.ts'
import { relayEnv } from '../deb/relay-env.ts'

const RELEASE: Release = { version: '1.2.3', time: 1_790_000_000, architecture: 'arm64' }
const PROGRAM = {
  executable: Buffer.from('#!/bin/sh\n'),
  help: "Usage: svc\n.dot and 'quote' at the beginning\n",
}
const BUNDLE = Buffer.from('the bundle of svc')
const UNIT = path.join(root, 'packaging/debian/svc-relay.service')
const hasDpkg = spawnSync('dpkg-deb', ['--version']).error === undefined
const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined
const hasShellcheck = spawnSync('shellcheck', ['--version']).error === undefined

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'svc-deb-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('relay.env', () => {
  test('names every setting once, with its meaning, and sets none', () => {
    const text = relayEnv()
    expect(parseEnv(text)).toEqual({})
    expect([...text.matchAll(/^#(\w+)=/gm)].map(([, name]) => name)).toEqual(SETTINGS.map(({ name }) => name))
    const prose = text.replaceAll('\n#', '').replaceAll(/\s+/g, ' ')
    for (const { meaning } of SETTINGS) expect(prose).toContain(meaning.slice(1))
  })

  test('with every line in effect a relay takes it', () => {
    const env = parseEnv(relayEnv().replaceAll(/^#(?=\w+=)/gm, ''))
    expect(Object.keys(env)).toHaveLength(SETTINGS.length)
    const settings = readSettings(env)
    expect(settings).toMatchObject({
      rootHost: 'relay.example.com',
      identityPath: '/var/lib/svc',
      sniPort: 8443,
    })
    expect(settings.unused).toEqual([])
  })
})

describe('packages', () => {
  test.skipIf(!hasDpkg)(
    'the same release is the same bytes, and says what it needs (needs dpkg-deb)',
    async () => {
      const made = relayPackage(RELEASE, PROGRAM, BUNDLE)
      const first = await buildPackage(made, path.join(directory, 'a'), RELEASE.time)
      const second = await buildPackage(made, path.join(directory, 'b'), RELEASE.time)
      expect(readFileSync(first).equals(readFileSync(second))).toBe(true)
      expect(path.basename(first)).toBe('svc-relay_1.2.3_arm64.deb')
      const field = (name: string) =>
        execFileSync('dpkg-deb', ['--field', first, name], { encoding: 'utf8' }).trim()
      expect([field('Version'), field('Architecture')]).toEqual(['1.2.3', 'arm64'])
      const list = execFileSync('dpkg-deb', ['--contents', first], { encoding: 'utf8' })
      expect(list).toMatch(/^-rw------- root\/root .* \.\/etc\/svc\/relay\.env$/m)
      expect(list).toMatch(/^-rwxr-xr-x root\/root .* \.\/usr\/bin\/svc-relay$/m)
      expect(list).toMatch(/^-rw-r--r-- root\/root .* \.\/usr\/share\/svc-relay\/install\/bin\/SHA256SUMS$/m)
      expect(execFileSync('dpkg-deb', ['--info', first, 'conffiles'], { encoding: 'utf8' })).toBe(
        '/etc/svc/relay.env\n',
      )
    },
  )

  test.skipIf(!hasDpkg)('svc has the command and its page (needs dpkg-deb)', async () => {
    const file = await buildPackage(commandPackage(RELEASE, PROGRAM), directory, RELEASE.time)
    const list = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' })
    expect(list).toMatch(/\.\/usr\/bin\/svc$/m)
    expect(list).toMatch(/\.\/usr\/share\/man\/man1\/svc\.1\.gz$/m)
  })

  test('a release candidate sorts before its release', () => {
    expect(debianVersion('1.0.0-rc.1')).toBe('1.0.0~rc.1')
  })

  test('npm run deb says what it takes, and what is missing', () => {
    const command = path.join(root, 'scripts/deb.ts')
    const { status, stderr } = spawnSync(process.execPath, [command, 'sparc'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 2, stderr: 'Usage: npm run deb [-- amd64 | arm64 …]\n' })
  })
})

test.skipIf(!hasSystemd)('systemd takes the unit (needs systemd-analyze)', () => {
  // The executable and the manual page are in the package.
  const unit = readFileSync(UNIT, 'utf8')
    .replace('ExecStart=svc-relay', 'ExecStart=/bin/true')
    .replace(/^Documentation=.*\n/m, '')
  const file = path.join(directory, 'svc-relay.service')
  writeFileSync(file, unit)
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test.skipIf(!hasShellcheck)('the maintainer scripts (needs shellcheck)', () => {
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) =>
    path.join(root, 'packaging/debian/svc-relay', name),
  )
  const { status, stdout } = spawnSync('shellcheck', scripts, { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})
