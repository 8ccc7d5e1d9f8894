// Finds or installs programs that the tests need and a machine may not have.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Milliseconds for a download or a Debian package. */
const INSTALL_TIMEOUT_MS: number = 5 * 60_000

/** Looks for the program, and runs one install command after the other until it is found. */
export function ensure<T>(find: () => T | undefined, installs: string[][]): T | undefined {
  for (const command of installs) {
    const found = find()
    if (found !== undefined) return found
    run(command)
  }
  return find()
}

/** @returns the commands that install the package; none where installing is not allowed. */
export function aptGet(name: string): string[] {
  const install = `apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q ${name}`
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') ? ['sh', '-c', install] : []
}

function run([command, ...args]: string[]): void {
  if (command === undefined) return
  console.log(`Installing: ${[command, ...args].join(' ')}`)
  const { stdout, stderr, status } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status !== 0) console.log(`It failed:\n${stdout}${stderr}`)
}
