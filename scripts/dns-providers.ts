// Proves Route 53 against moto, and the other parts of external DNS providers at their whole depth: `npm run interop -- dns-providers`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../tools/network/free-port.ts'
import { root, runCommand } from '../tools/programs/command.ts'

/** From PyPI, with the extras of its server and of this service. */
const MOTO = 'moto[server,route53]==5.2.5'
const FOLDER: string = path.join(root, 'node_modules/.cache/moto-5.2.5')
const INSTALL_TIMEOUT_MS: number = 5 * 60_000
const TESTS_TIMEOUT_MS: number = 8 * 60_000
/** Milliseconds of one look whether the server answers, and the number of looks. */
const LOOK_MS = 250
const LOOKS_MAX = 240

/** @returns whether all tests passed; false, with the reason on standard error, where moto cannot be had */
export async function proveDnsProviders(): Promise<boolean> {
  const program = findMoto()
  if (program === undefined) return false
  const port = await freePort()
  const moto = spawn(program, ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' })
  try {
    const url = `http://127.0.0.1:${port}`
    if (!(await answers(moto, url))) return false
    const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
    const command = [process.execPath, vitest, 'run', '--project', 'node*', 'relay/test/dns/providers']
    const env = { MOTO_URL: url, TEST_DEPTH: 'whole' }
    return (await runCommand(command, { timeoutMs: TESTS_TIMEOUT_MS, env })).ok
  } finally {
    moto.kill('SIGKILL')
  }
}

function findMoto(): string | undefined {
  const program = path.join(FOLDER, 'bin/moto_server')
  if (existsSync(program)) return program
  for (const [command = '', ...args] of [
    ['python3', '-m', 'venv', FOLDER],
    [path.join(FOLDER, 'bin/pip'), 'install', '-q', MOTO],
  ]) {
    const { status, stderr, error } = spawnSync(command, args, {
      encoding: 'utf8',
      timeout: INSTALL_TIMEOUT_MS,
    })
    if (status === 0) continue
    console.error(`moto cannot be had (it needs Python 3 and PyPI): ${error?.message ?? stderr}`)
    rmSync(FOLDER, { recursive: true, force: true })
    return undefined
  }
  return program
}

async function answers(moto: ChildProcess, url: string): Promise<boolean> {
  for (let look = 0; look < LOOKS_MAX && moto.exitCode === null; look++) {
    const isThere = await fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) return true
    await delay(LOOK_MS)
  }
  console.error('moto does not start')
  return false
}
