// Runs one program to its end, bounded in time, and gives its output or an error that has it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface RunOptions {
  /** @default RUN_TIMEOUT_MS */
  timeoutMs?: number
}

/** Milliseconds for a program that downloads nothing. */
const RUN_TIMEOUT_MS = 60_000
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024

/** @returns standard output @throws Error with the end of both outputs when the program fails or takes too long */
export async function run([command = '', ...args]: string[], options: RunOptions = {}): Promise<string> {
  const { timeoutMs = RUN_TIMEOUT_MS } = options
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_MAX_BYTES,
    })
    return stdout
  } catch (error) {
    const {
      code,
      killed,
      stdout = '',
      stderr = '',
    } = error as Error & {
      code?: number | string
      killed?: boolean
      stdout?: string
      stderr?: string
    }
    const end = killed ? `took more than ${timeoutMs / 1000} s` : `ended with ${code}`
    throw new Error(`${[command, ...args].join(' ')} ${end}:\n${stdout}${stderr}`.trim())
  }
}
