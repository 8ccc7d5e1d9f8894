// Runs the system's programs that configure interfaces: bounded in time and output, with secrets only on standard
// input.

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { COMMAND_DEADLINE_MS, COMMAND_ERROR_MAX_CHARS, COMMAND_OUTPUT_MAX_BYTES } from './limits.ts'

/** The folders in which Debian has programs of administrators, which are not in the PATH of every service. */
const ADMIN_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * Runs a program to its end.
 * @param input what it reads from its standard input
 * @returns its standard output
 * @throws Error with the program's last output, which never contains its input
 */
export function runCommand(program: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      timeout: COMMAND_DEADLINE_MS,
      killSignal: 'SIGKILL',
      maxBuffer: COMMAND_OUTPUT_MAX_BYTES,
      env: programEnv(),
    } as const
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const why = error.killed ? 'it took too long' : stderr.trim() || (error.code ?? 'it was ended')
      reject(new Error(`${program} ${args[0] ?? ''}: ${`${why}`.slice(0, COMMAND_ERROR_MAX_CHARS)}`))
    })
    // A program that reads no input may have ended already.
    child.stdin?.on('error', () => {}).end(input)
  })
}

/** Returns whether the machine has a program. */
export async function hasProgram(name: string): Promise<boolean> {
  const paths = programEnv()
    .PATH.split(delimiter)
    .map((folder) => join(folder, name))
  const found = paths.map((path) => access(path, constants.X_OK))
  return await Promise.any(found).then(
    () => true,
    () => false,
  )
}

/** The environment of these programs, without the relay's settings, which may be secret. */
export function programEnv(): { PATH: string; LD_LIBRARY_PATH?: string } {
  const { PATH = '', LD_LIBRARY_PATH } = process.env
  return {
    PATH: [PATH, ...ADMIN_FOLDERS].filter((folder) => folder !== '').join(delimiter),
    ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
  }
}
