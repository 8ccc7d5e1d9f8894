// The curl of this machine, which trusts the relay's CA: a client that is not ours.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Seconds for one transfer: it ends what hangs. */
const TIMEOUT_S = 90
const OUTPUT_MAX_BYTES: number = 64 * 1024 * 1024

/** @returns what curl writes to its standard output; rejects with what it says when it fails */
export async function curl(caFile: string, ...args: string[]): Promise<Buffer> {
  const common = ['--silent', '--show-error', '--max-time', String(TIMEOUT_S), '--cacert', caFile]
  const { stdout } = await promisify(execFile)('curl', [...common, ...args], {
    encoding: 'buffer',
    maxBuffer: OUTPUT_MAX_BYTES,
    timeout: (TIMEOUT_S + 5) * 1000,
  })
  return stdout
}
