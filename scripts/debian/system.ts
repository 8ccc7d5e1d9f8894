// Makes a Debian system in a directory with mmdebstrap, once for all runs, and unpacks copies of it.
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'
import { aptGet, ensure } from '../../tools/programs/install.ts'
import { run } from './run.ts'

/** Debian's release with systemd 252, which takes every version of control groups. */
const SUITE = 'bookworm'
/** What the packages depend on, and what the proof uses, so that nothing is downloaded inside. */
const PACKAGES = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'adduser',
  'ca-certificates',
  'curl',
  'libatomic1',
  'libstdc++6',
  'openssl',
]
const ARCHIVE = path.join(root, `artifacts/debian/${SUITE}.tar`)
/** Milliseconds for downloading and unpacking the system. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000
const PROGRAMS = ['mmdebstrap', 'systemd-nspawn', 'dpkg-deb', 'ip', 'nsenter', 'tar']

export const INSTALL = 'root on Debian, with mmdebstrap, systemd-container, iproute2 and util-linux'

/** @returns why a system cannot be made here; undefined when it can */
export function systemProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can start a Debian system'
  ensure(
    () => (missing().length === 0 ? true : undefined),
    [aptGet('--no-install-recommends mmdebstrap systemd-container iproute2')],
  )
  return missing().length === 0 ? undefined : `${missing().join(', ')} cannot be found`
}

/** Unpacks a new system. */
export async function unpackSystem(directory: string): Promise<void> {
  if (!existsSync(ARCHIVE)) await download()
  await mkdir(directory, { recursive: true })
  await run(['tar', '--extract', '--numeric-owner', `--file=${ARCHIVE}`, `--directory=${directory}`])
}

async function download(): Promise<void> {
  await mkdir(path.dirname(ARCHIVE), { recursive: true })
  const partial = `${ARCHIVE}.partial.tar`
  await run(['mmdebstrap', '--variant=minbase', `--include=${PACKAGES.join(',')}`, SUITE, partial], {
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  })
  await rename(partial, ARCHIVE)
}

function missing(): string[] {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin']
  return PROGRAMS.filter((name) => !folders.some((folder) => existsSync(path.join(folder, name))))
}
