// Failures of `/api/install.sh`: its message names each, it leaves nothing half installed, and keeps an older `svc`.

import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, test as every, expect } from 'vitest'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { RELEASE_VERSION } from '../../../src/core/version.ts'
import { PADDING_BYTES, writeDownloads } from '../../support/downloads.ts'
import {
  type Client,
  findProgram,
  type Machine,
  type MachineOptions,
  type Run,
} from '../../support/install-machine.ts'
import { HERE, type Installer, startInstaller } from '../../support/installer.ts'

const test = wholeOnly(every, 'variant')

const CLIENTS: Client[] = ['curl', 'wget']
/** The program that lets this machine pass for one of 32 bits. */
const SETARCH: string | undefined = process.arch === 'x64' ? findProgram('setarch') : undefined
const SETPRIV: string | undefined = findProgram('setpriv')
const IS_ROOT: boolean = process.getuid?.() === 0
/** A user that owns nothing. */
const NOBODY = 65_534
/** The loader of musl, which is its `ldd`, too, when it is called by that name. */
const MUSL = `/lib/ld-musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`

let installer: Installer
beforeAll(async () => {
  installer = await startInstaller()
})
beforeEach(() => installer.offer(RELEASE_VERSION))
afterAll(() => installer.close())

async function expectNothing(machine: Machine, run: Run, reason: string): Promise<void> {
  expect(run.errors).toContain(reason)
  expect(run.errors).toMatch(/^(svc: .*\n)+$/)
  expect(run.errors).toMatch(/svc: Nothing was installed\.\n$/)
  expect(run.code).toBe(1)
  expect(await machine.installed()).toEqual([])
}

test('a directory that cannot be made', async () => {
  const machine = await installer.machine()
  const run = await machine.install({ ...installer.at, env: { SVC_INSTALL_DIR: '/proc/svc' } })
  await expectNothing(machine, run, '/proc/svc cannot be made.\nsvc: Name a directory that you may write to')
})

test.skipIf(IS_ROOT && SETPRIV === undefined)('a directory that the user may not write to', async () => {
  const machine = await installer.machine({ programs: IS_ROOT ? { setpriv: SETPRIV! } : {} })
  await mkdir(machine.bin, { recursive: true })
  await machine.run('chmod 555 "$BIN"', { BIN: machine.bin })
  const through = IS_ROOT ? ['setpriv', `--reuid=${NOBODY}`, '--clear-groups'] : []
  // The shell that downloads the script is the test's user, who alone may read the file of the authority.
  const run = await machine.install({ ...installer.at, through: [...through, 'env', 'SVC_CA='] })
  await expectNothing(machine, run, `${machine.bin} cannot be written to.`)
})

test.each(CLIENTS)('a download that is not what was announced, or not there, with %s', async (client) => {
  const { at, directory } = installer
  const file = join(directory, `bin/${HERE}.gz`)
  const bytes = await readFile(file)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(file, bytes)
  const machine = await installer.machine({ client })
  await expectNothing(machine, await machine.install(at), 'The download is not what https://')
  await rm(file)
  const missing = `answered with 404: ${at.url}/api/install/bin/${HERE}.gz`
  await expectNothing(machine, await machine.install(at), missing)
})

test.concurrent.for(CLIENTS)('a relay that ends in the middle, with %s', async (client, { expect }) => {
  const own = await startInstaller()
  const machine = await installer.machine({ client })
  own.proxy.cutAfter = PADDING_BYTES / 2
  own.proxy.onCut = () => void own.relay.stop()
  const run = await machine.install(own.at)
  expect(run).toMatchObject({ code: 1, errors: expect.stringContaining('The download broke off after ') })
  expect(await machine.installed()).toEqual([])
  await own.close()
})

const TIMEOUT: string | undefined = findProgram('timeout')
test.skipIf(TIMEOUT === undefined)('a person who ends it in the middle of the download', async () => {
  const { at, proxy } = installer
  const machine = await installer.machine({ programs: { timeout: TIMEOUT! } })
  proxy.stallAfter = PADDING_BYTES / 2
  const run = await machine.install({ ...at, through: ['timeout', '--signal=INT', '2'] })
  proxy.stallAfter = undefined
  expect(run).toMatchObject({ code: 124, output: expect.stringMatching(/^Downloading svc .*\n$/) })
  expect(await machine.installed()).toEqual([])
})

test.each(CLIENTS)('a relay whose certificate is not trusted, with %s', async (client) => {
  const machine = await installer.machine({ client })
  const SCRIPT = (await installer.relay.call('GET', '/api/install.sh')).text
  const env = { SCRIPT, https_proxy: installer.proxy.url, SVC_INSTALL_DIR: machine.bin }
  const command = `printf '%s' "$SCRIPT" | sh`
  await expectNothing(
    machine,
    await machine.run(command, env),
    'There is no trusted TLS connection to https://',
  )
  const wrong = await machine.run(command, { ...env, SVC_CA: '/nowhere/ca.pem' })
  await expectNothing(machine, wrong, 'SVC_CA names /nowhere/ca.pem, which cannot be read.')
})

test.each<[MachineOptions, string]>([
  [{ client: undefined }, 'curl or wget is needed.'],
  [{ without: ['gzip'] }, 'gzip is needed.'],
  [{ without: ['sha256sum'] }, 'sha256sum, shasum or openssl is needed'],
])('a machine with %j', async (options, reason) => {
  const machine = await installer.machine(options)
  await expectNothing(machine, await machine.install(installer.at), reason)
})

test.skipIf(SETARCH === undefined)('a system of 32 bits', async () => {
  const machine = await installer.machine({ programs: { setarch: SETARCH! } })
  const run = await machine.install({ ...installer.at, through: ['setarch', 'i686'] })
  await expectNothing(
    machine,
    run,
    'There is no executable of svc for the processor i686.\nsvc: Where Node 24',
  )
})

test.skipIf(!existsSync(MUSL))('a system with musl', async () => {
  const machine = await installer.machine({ without: ['getconf', 'ldd'], programs: { ldd: MUSL } })
  const run = await machine.install(installer.at)
  await expectNothing(machine, run, 'this system has musl.\nsvc: Where Node 24 or newer is in PATH')
})

test('a program that does not run on this machine', async () => {
  await writeDownloads(installer.directory, { [HERE]: '#!/nowhere/interpreter\n' })
  const machine = await installer.machine()
  const run = await machine.install(installer.at)
  await expectNothing(machine, run, 'The download does not run on this machine: ')
})

test('a relay without downloads, or without one for this platform', async () => {
  const { at, directory } = installer
  await writeDownloads(directory, { 'windows-amd64': '' })
  const machine = await installer.machine()
  const other = `offers svc for windows-amd64, and not for ${HERE}.`
  await expectNothing(machine, await machine.install(at), other)
  await rm(join(directory, 'bin'), { recursive: true })
  await expectNothing(machine, await machine.install(at), `${at.url} has no downloads of svc.`)
})

test('an option that there is not', async () => {
  const machine = await installer.machine()
  const run = await machine.install({ ...installer.at, args: ['--upgrade'] })
  await expectNothing(machine, run, 'There is no option --upgrade')
})

test('an upgrade that fails leaves what was there', async () => {
  const machine = await installer.machine()
  await mkdir(machine.bin, { recursive: true })
  await writeFile(join(machine.bin, 'svc'), '#!/bin/sh\necho 0.0.9\n', { mode: 0o755 })
  await writeFile(join(installer.directory, `bin/${HERE}.gz`), 'corrupted')
  const run = await machine.install(installer.at)
  expect(run.errors).toContain(`svc: svc 0.0.9 stays as it is: ${machine.bin}/svc\n`)
  expect(run.code).toBe(1)
  expect(await machine.installed()).toEqual(['svc'])
  expect(await machine.runSvc('--version')).toMatchObject({ output: '0.0.9\n' })
})
