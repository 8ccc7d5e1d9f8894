// Windows executables are valid to LLVM's reader of such files, and start under Wine, where Node itself does.
import { match } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { RELEASE_VERSION } from '../../../relay/src/core/version.ts'
import { aptGet, ensure } from '../../../tools/programs/install.ts'
import { baseBinary } from '../base-binaries.ts'
import { type Built, Impossible, type Proof } from './proof.ts'

const run = promisify(execFile)
const OUTPUT_MAX_BYTES: number = 64 * 1024 * 1024
/** Milliseconds for a start, of which the first one makes Wine's directory. */
const START_TIMEOUT_MS = 120_000
const READER = 'llvm-readobj'
const WINE = '/usr/lib/wine/wine64'
/** Name of the resource in which Node looks for the blob, as UTF-16. */
const BLOB: RegExp = /NODE_SEA_BLOB/

export const provePortableExecutable: Proof = {
  install: 'apt-get install llvm wine64',
  prepare: async (built: Built) => {
    const version = ensure(readerVersion, [aptGet('llvm')])
    if (version === undefined) return undefined
    const svc = path.join(built.directory, `${path.basename(built.svc, '.gz')}.exe`)
    await pipeline(createReadStream(built.svc), createGunzip(), createWriteStream(svc))
    const isArm = built.svc.includes('arm64')
    const proofs = {
      svc: () => requireValid(svc, isArm),
      'svc-relay': () => requireValid(built.relay, isArm),
      'svc --version under Wine': () => startUnderWine(svc, isArm, built.directory),
    }
    return { version: `LLVM ${version}`, proofs }
  },
}

function readerVersion(): string | undefined {
  return /LLVM version (\S+)/.exec(spawnSync(READER, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
}

async function requireValid(file: string, isArm: boolean): Promise<void> {
  const asked = ['--file-headers', '--sections', '--coff-resources', file]
  const { stdout } = await run(READER, asked, { maxBuffer: OUTPUT_MAX_BYTES })
  match(stdout, isArm ? /IMAGE_FILE_MACHINE_ARM64/ : /IMAGE_FILE_MACHINE_AMD64/)
  match(stdout, /IMAGE_SUBSYSTEM_WINDOWS_CUI/)
  match(stdout, /CertificateTableSize: 0x0/)
  match(stdout, BLOB)
}

/** @throws Impossible where Wine cannot start the same Node without anything in it, either */
async function startUnderWine(svc: string, isArm: boolean, directory: string): Promise<void> {
  if (isArm) throw new Impossible('Wine on this machine runs no ARM programs')
  if (ensure(findWine, [aptGet('--no-install-recommends wine64')]) === undefined)
    throw new Impossible('Wine is not there (apt-get install wine64)')
  const env = {
    ...process.env,
    WINEPREFIX: path.join(directory, 'wine'),
    WINEDEBUG: '-all',
    NODE_SKIP_PLATFORM_CHECK: '1',
  }
  const start = (program: string, ...args: string[]): Promise<string> =>
    run(WINE, [program, ...args], { env, timeout: START_TIMEOUT_MS }).then(
      ({ stdout }) => stdout.trim(),
      (error: { stderr: string; message: string }) => error.stderr || error.message,
    )
  const said = await start(svc, '--version')
  if (said === RELEASE_VERSION) return
  const node = baseBinary('windows-amd64', process.versions.node).file
  const [reason = ''] = said.split('\n').filter((line) => line.includes('Fatal'))
  const ofNode = await start(node, '--print', '1')
  if (reason !== '' && ofNode.includes(reason)) throw new Impossible(`Node itself ends with "${reason}"`)
  throw new Error(said)
}

function findWine(): true | undefined {
  return spawnSync(WINE, ['--version']).error === undefined ? true : undefined
}
