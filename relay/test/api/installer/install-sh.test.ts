// `curl -fsSL RELAY/api/install.sh | sh` as people run it: real shells and clients, against a real relay over TLS.

import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atDepth } from '../../../../tools/test-depth.ts'
import { RELEASE_VERSION } from '../../../src/core/version.ts'
import { PADDING_BYTES } from '../../support/downloads.ts'
import { type Client, findProgram, type Machine, pathOf, type Shell } from '../../support/install-machine.ts'
import { HERE, type Installer, startInstaller } from '../../support/installer.ts'

const OLD_NODE = '#!/bin/sh\necho v22.20.0\n'

let installer: Installer
beforeAll(async () => {
  installer = await startInstaller()
})
afterAll(() => installer.close())

const SHELLS: Shell[] = ['dash', 'bash', 'busybox']
const CLIENTS: Client[] = ['curl', 'wget']
/** By day each client, and the two shells that take least beyond what POSIX says. */
const CELLS: (readonly [Shell, Client])[] = atDepth(
  SHELLS.flatMap((shell) => CLIENTS.map((client) => [shell, client] as const)),
  [
    ['dash', 'curl'],
    ['busybox', 'wget'],
  ],
)
/** Places where the script is cut off. */
const CUTS: number = atDepth(40, 10)

describe.each(CELLS)('%s with %s', (shell, client) => {
  const isHere = findProgram(shell) !== undefined && findProgram(client) !== undefined

  test.skipIf(!isHere)('installs, upgrades, does nothing again, and uninstalls', async () => {
    const { at, proxy } = installer
    const machine = await installer.machine({ shell, client })
    const program = join(machine.bin, 'svc')

    await installer.offer('0.0.1')
    const first = await machine.install(at)
    expect(first).toMatchObject({ code: 0, errors: '' })
    expect(first.output).toContain(`svc 0.0.1 is installed: ${program}\n`)
    expect(first.output).toContain(`add this line to ~/.bashrc: export PATH=${machine.bin}:"$PATH"`)
    expect(first.output).toMatch(
      new RegExp(`  ${program} expose 3000 --relay ${at.url} --ca ${at.caFile}\n$`),
    )
    expect(await machine.run(program)).toMatchObject({ code: 0, output: `${HERE}\n` })

    await installer.offer(RELEASE_VERSION)
    const upgrade = await machine.install(at)
    expect(upgrade).toMatchObject({ code: 0, errors: '' })
    expect(upgrade.output).toContain(`svc was upgraded from 0.0.1 to ${RELEASE_VERSION}: ${program}\n`)

    const before = proxy.bytes
    const again = await machine.install(at)
    expect(again).toMatchObject({ code: 0, errors: '' })
    expect(again.output).toContain(`svc ${RELEASE_VERSION} is installed already: ${program}\n`)
    expect(proxy.bytes - before).toBeLessThan(PADDING_BYTES / 2)
    expect(await machine.installed()).toEqual(['svc'])

    expect(await machine.install({ ...at, args: ['--uninstall'] })).toMatchObject({ code: 0, errors: '' })
    expect(await machine.installed()).toEqual([])
  })
})

test.skipIf(findProgram('wget') === undefined)(
  'wget goes through HTTPS_PROXY in capitals, too, but for the hosts in NO_PROXY',
  async () => {
    const { at, proxy } = installer
    const machine = await installer.machine({ shell: 'dash', client: 'wget' })
    const script = await installer.relay.call('GET', '/api/install.sh')
    await writeFile(join(machine.home, 'install.sh'), script.text)
    const run = (env: Record<string, string>) =>
      machine.run('cd "$HOME" && sh install.sh', {
        SVC_CA: at.caFile,
        SVC_INSTALL_DIR: machine.bin,
        HTTPS_PROXY: proxy.url,
        ...env,
      })
    const before = proxy.asked.length
    expect(await run({})).toMatchObject({ code: 0 })
    expect(proxy.asked.length).toBeGreaterThan(before)
    const through = proxy.asked.length
    await run({ NO_PROXY: 'relay.localhost' })
    expect(proxy.asked).toHaveLength(through)
  },
)

describe('where Node 24 or newer is in PATH', () => {
  test('it installs the bundle, and the executable takes its place when Node has gone', async () => {
    const machine = await installer.machine({ programs: { node: process.execPath } })
    expect(await machine.install(installer.at)).toMatchObject({ code: 0, errors: '' })
    expect(await machine.installed()).toEqual(['svc', 'svc.mjs'])
    // Without its extension, the file would be CommonJS here.
    await writeFile(join(machine.home, 'package.json'), '{"type":"commonjs"}')
    expect(await machine.runSvc()).toMatchObject({ code: 0, output: 'node\n' })

    await machine.run('rm "$NODE"', { NODE: join(machine.root, 'programs/node') })
    expect(await machine.install(installer.at)).toMatchObject({ code: 0, errors: '' })
    expect(await machine.installed()).toEqual(['svc'])
    expect(await machine.runSvc()).toMatchObject({ output: `${HERE}\n` })
  })

  test('with an older Node it installs the executable', async () => {
    const machine = await installer.machine({ programs: { node: OLD_NODE } })
    expect(await machine.install(installer.at)).toMatchObject({ code: 0, errors: '' })
    expect(await machine.runSvc()).toMatchObject({ output: `${HERE}\n` })
  })
})

test.each(CLIENTS)('a connection that breaks is resumed, with %s', async (client) => {
  const { at, proxy } = installer
  const machine = await installer.machine({ client })
  const before = proxy.bytes
  proxy.cutAfter = PADDING_BYTES * 0.8
  expect(await machine.install(at)).toMatchObject({ code: 0, errors: '' })
  expect(await machine.installed()).toEqual(['svc'])
  expect(proxy.bytes - before).toBeLessThan(PADDING_BYTES * 1.4)
})

test.each(['shasum', 'openssl'])('the download is checked with %s where nothing better is', async (name) => {
  const perl = name === 'shasum' ? { perl: pathOf('perl') } : {}
  const machine = await installer.machine({
    without: ['sha256sum'],
    programs: { [name]: pathOf(name), ...perl },
  })
  expect(await machine.install(installer.at)).toMatchObject({ code: 0, errors: '' })
  expect(await machine.installed()).toEqual(['svc'])
})

describe('a Mac', () => {
  beforeAll(() => installer.offer(RELEASE_VERSION, [HERE, 'darwin-amd64', 'darwin-arm64']))

  test.each([
    ['x86_64', '0', 'darwin-amd64'],
    ['x86_64', '1', 'darwin-arm64'],
    ['arm64', '0', 'darwin-arm64'],
  ])('that says %s, translated %s, gets %s', async (processor, translated, slug) => {
    const mac = await installer.machine({
      without: ['uname'],
      programs: {
        uname: `#!/bin/sh\nif [ "$1" = -s ]; then echo Darwin; else echo ${processor}; fi\n`,
        sysctl: `#!/bin/sh\necho ${translated}\n`,
      },
    })
    expect(await mac.install(installer.at)).toMatchObject({ code: 0, errors: '' })
    expect(await mac.runSvc()).toMatchObject({ output: `${slug}\n` })
  })
})

describe('an svc that is there already', () => {
  async function machineHaving(text: string): Promise<Machine> {
    const machine = await installer.machine()
    await mkdir(machine.bin, { recursive: true })
    await writeFile(join(machine.bin, 'svc'), text, { mode: 0o755 })
    return machine
  }

  test('and is another program stays as it is', async () => {
    const machine = await machineHaving('#!/bin/sh\necho usage: svc -t service\n')
    for (const args of [[], ['--uninstall']]) {
      const run = await machine.install({ ...installer.at, args })
      expect(run).toMatchObject({ code: 1, errors: expect.stringContaining('svc is another program.') })
    }
    expect(await machine.runSvc()).toMatchObject({ output: 'usage: svc -t service\n' })
  })

  test('and is newer is replaced only with --force', async () => {
    const machine = await machineHaving('#!/bin/sh\necho 10.0.0\n')
    const run = await machine.install(installer.at)
    const refusal = expect.stringContaining(`offers the older ${RELEASE_VERSION}`)
    expect(run).toMatchObject({ code: 0, output: refusal })
    expect(await machine.runSvc()).toMatchObject({ output: '10.0.0\n' })
    const forced = await machine.install({ ...installer.at, args: ['--force'] })
    expect(forced).toMatchObject({ code: 0, output: expect.stringContaining('replaced the newer 10.0.0') })
  })
})

test('a directory with spaces and quotes is written so that a shell reads it back', async () => {
  const machine = await installer.machine()
  const SVC_INSTALL_DIR = join(machine.home, "it's a bin")
  const run = await machine.install({ ...installer.at, env: { SVC_INSTALL_DIR } })
  expect(run).toMatchObject({ code: 0, errors: '' })
  const command = /^ {2}(.*) expose 3000/m.exec(run.output)?.[1]
  expect(await machine.run(`${command}`)).toMatchObject({ code: 0, output: `${HERE}\n` })
})

test('with the directory in PATH, the command is svc alone', async () => {
  const machine = await installer.machine()
  const PATH = `${join(machine.root, 'programs')}:${machine.bin}`
  const { output } = await machine.install({ ...installer.at, env: { PATH } })
  expect(output).toMatch(/machine:\n {2}svc expose 3000 --relay /)
  expect(output).not.toContain('is not in PATH')
})

test('a script that is cut off anywhere does nothing', async () => {
  const machine = await installer.machine()
  const script = (await installer.relay.call('GET', '/api/install.sh')).text.trimEnd()
  const ends = Array.from({ length: CUTS }, (_, index) => Math.floor((script.length * index) / CUTS))
  for (const end of [...ends, script.length - 2, script.length - 1]) {
    const env = { SCRIPT: script.slice(0, end), SVC_INSTALL_DIR: machine.bin }
    expect(await machine.run(`printf '%s' "$SCRIPT" | sh`, env)).toMatchObject({ output: '' })
    expect(await machine.installed()).toEqual([])
  }
})

const shellcheck = findProgram('shellcheck')
// Skipped where `npm test` could not install it.
test.skipIf(shellcheck === undefined)('shellcheck finds nothing in the script', async () => {
  const file = join(installer.directory, 'script')
  await writeFile(file, (await installer.relay.call('GET', '/api/install.sh')).text)
  const { stdout } = spawnSync(shellcheck!, ['--severity=style', file], { encoding: 'utf8' })
  expect(stdout).toBe('')
})
