// Executes an installation plan: writes the service's file, and runs the system's commands.

import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SvcError } from '@svc/sdk-core'
import type { Command, InstallationPlan } from './installation-plan.ts'

/** The deadline of a system command, in milliseconds: `restart` waits until the old agent has unregistered its leases. */
const COMMAND_DEADLINE_MS = 60_000
const BYTE_ORDER_MARK = '\ufeff'
/** The mode of the file, which contains no secret. */
const MODE = 0o644

const run = promisify(execFile)

/**
 * Installs or replaces the service, and starts it.
 * @returns warnings
 * @throws SvcError `invalid_option` when the file cannot be written, or a command of the system fails. The file is then
 *   unchanged
 */
export async function installService({
  path,
  text,
  encoding,
  isTemporary,
  install,
}: InstallationPlan): Promise<string[]> {
  const before = isTemporary ? undefined : await readFile(path, encoding).catch(() => undefined)
  await put(path, encoding === 'utf16le' ? BYTE_ORDER_MARK + text : text, encoding)
  let after = isTemporary ? undefined : text
  try {
    const notes: string[] = []
    for (const command of install) notes.push(...(await runCommand(command)))
    return notes
  } catch (error) {
    after = before
    throw error
  } finally {
    if (after === undefined) await rm(path, { force: true })
    else if (after !== text) await put(path, after, encoding)
  }
}

/**
 * Stops and removes the service, if there is one.
 * @throws SvcError `invalid_option` when the file cannot be removed, or a command of the system fails
 */
export async function uninstallService({
  path,
  uninstall,
  forget,
}: Pick<InstallationPlan, 'path' | 'uninstall' | 'forget'>): Promise<void> {
  for (const command of uninstall) await runCommand(command)
  await atPath(path, () => rm(path, { force: true }))
  for (const command of forget) await runCommand(command)
}

async function put(path: string, text: string, encoding: BufferEncoding): Promise<void> {
  await atPath(path, async () => {
    await mkdir(dirname(path), { recursive: true })
    const draft = `${path}.${process.pid}`
    await writeFile(draft, text, { encoding, mode: MODE })
    await rename(draft, path)
  })
}

/** @returns the warning of a command that may fail and did */
async function runCommand({ args: [program, ...args], mayFail }: Command): Promise<string[]> {
  try {
    await run(program, args, { timeout: COMMAND_DEADLINE_MS, windowsHide: true })
    return []
  } catch (error) {
    if (mayFail) return mayFail === true ? [] : [mayFail]
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    const [first = ''] = stderr.trim().split('\n', 1)
    const why = code === 'ENOENT' ? 'this system has no such command' : first || `exit code ${code}`
    throw new SvcError('invalid_option', `${[program, ...args].join(' ')} failed: ${why}`)
  }
}

async function atPath(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const advice = code === 'EACCES' || code === 'EPERM' ? ': a service of the system needs sudo' : ''
    throw new SvcError('invalid_option', `${path} cannot be changed${advice}`, { cause })
  }
}
