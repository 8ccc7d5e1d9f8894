// Installing for real, with commands of this test in place of the system's: files, order, failures, and what was there before.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installService, uninstallService } from '../../../src/cli/service/install.ts'
import type { Command, InstallationPlan } from '../../../src/cli/service/installation-plan.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-service-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Writes a line to the journal, and whether the file is there, then ends with the code. */
function note(line: string, code = 0): Command {
  const script = `const fs = require('node:fs')
    fs.appendFileSync(${JSON.stringify(join(folder, 'journal'))}, ${JSON.stringify(line)} + (fs.existsSync(${JSON.stringify(pathOf())}) ? ' with' : ' without') + ' the file\\n')
    if (${code}) console.error('it was not ready\\nand more')
    process.exit(${code})`
  return { args: [process.execPath, '-e', script] }
}

function pathOf(): string {
  return join(folder, 'units', 'svc-agent.service')
}

function plan(parts: Partial<InstallationPlan> = {}): InstallationPlan {
  return {
    path: pathOf(),
    text: 'the unit',
    encoding: 'utf8',
    isTemporary: false,
    install: [note('reload'), note('start')],
    uninstall: [note('stop')],
    forget: [note('forget')],
    ...parts,
  }
}

const journal = (): Promise<string> => readFile(join(folder, 'journal'), 'utf8')

it('writes the file, runs the commands in order, and takes all of it back', async () => {
  expect(await installService(plan())).toEqual([])
  expect(await readFile(pathOf(), 'utf8')).toBe('the unit')
  expect((await stat(pathOf())).mode & 0o777).toBe(0o644)
  await uninstallService(plan())
  expect(await readdir(join(folder, 'units'))).toEqual([])
  expect(await journal()).toBe(
    'reload with the file\nstart with the file\nstop with the file\nforget without the file\n',
  )
  // there is nothing to remove any more
  await uninstallService(plan())
})

it('leaves what was there before when a command fails, and says which', async () => {
  const failing = plan({ install: [note('reload'), note('start', 3)] })
  await expect(installService(failing)).rejects.toThrow('failed: it was not ready')
  expect(await readdir(join(folder, 'units'))).toEqual([])
  await installService(plan({ text: 'the old unit' }))
  await expect(installService(failing)).rejects.toMatchObject({ code: 'invalid_option' })
  expect(await readFile(pathOf(), 'utf8')).toBe('the old unit')
})

it('goes on when a command may fail, and says what is not as it should be', async () => {
  const missing: Command = { args: ['svc-test-no-such-command'], mayFail: 'no linger' }
  const quiet: Command = { args: ['svc-test-no-such-command'], mayFail: true }
  expect(await installService(plan({ install: [quiet, missing, note('start')] }))).toEqual(['no linger'])
  await expect(installService(plan({ install: [{ args: ['svc-test-no-such-command'] }] }))).rejects.toThrow(
    'svc-test-no-such-command failed: this system has no such command',
  )
})

it('has a temporary file in UTF-16 only while the system reads it', async () => {
  const copy = join(folder, 'copy')
  const args = [
    process.execPath,
    '-e',
    `require('node:fs').copyFileSync(${JSON.stringify(pathOf())}, ${JSON.stringify(copy)})`,
  ] as const
  await installService(plan({ text: '<Task/>', encoding: 'utf16le', isTemporary: true, install: [{ args }] }))
  expect(await readdir(join(folder, 'units'))).toEqual([])
  expect((await readFile(copy)).toString('hex')).toBe('fffe3c005400610073006b002f003e00')
})

it('says what is needed where the file cannot be written', async () => {
  await writeFile(join(folder, 'units'), 'a file in place of the folder')
  await expect(installService(plan())).rejects.toThrow(`${pathOf()} cannot be changed`)
})
