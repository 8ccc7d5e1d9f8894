// Builds one Debian package with dpkg-deb: the same files, version and time give the same bytes.
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runCommand } from '../../tools/programs/command.ts'

export interface PackageFile {
  /** Path in the installed system, without the leading slash. */
  path: string
  /** Permissions, in octal digits. */
  mode: number
  content: string | Uint8Array
  /**
   * Whether dpkg keeps the changes that an operator made to it.
   * @default false
   */
  isConffile?: boolean
}

export interface DebianPackage {
  name: string
  version: string
  architecture: 'amd64' | 'arm64'
  /** Fields of the control file beside those above, in their order. */
  control: Readonly<Record<string, string>>
  files: readonly PackageFile[]
  /** Maintainer scripts by name. */
  scripts?: Readonly<Record<string, string>>
}

/** Milliseconds for compressing an executable on a busy machine. */
const BUILD_TIMEOUT_MS = 10 * 60_000
const DIRECTORY_MODE = 0o755
const CONTROL_MODE = 0o644
const SCRIPT_MODE = 0o755
/** A level of xz beyond which packages hardly get smaller, and take several times as long. */
const XZ_LEVEL = 1

/**
 * Builds a package in a directory.
 * @param time seconds since 1970, for every file of the package
 * @returns the path of the package
 * @throws Error with the output of dpkg-deb when that fails
 */
export async function buildPackage(made: DebianPackage, directory: string, time: number): Promise<string> {
  const { name, version, architecture, files } = made
  const staging = await mkdtemp(path.join(tmpdir(), 'svc-deb-'))
  const output = path.join(directory, `${name}_${version}_${architecture}.deb`)
  try {
    for (const file of files) await write(path.join(staging, file.path), file.content, file.mode)
    for (const [file, content] of Object.entries(controlFiles(made)))
      await write(path.join(staging, 'DEBIAN', file), content, CONTROL_MODE)
    for (const [script, content] of Object.entries(made.scripts ?? {}))
      await write(path.join(staging, 'DEBIAN', script), content, SCRIPT_MODE)
    await setTimes(staging, time)
    await makeRoom(directory, made)
    const options = ['--root-owner-group', '-Zxz', `-z${XZ_LEVEL}`]
    const { ok, output: said } = await runCommand(['dpkg-deb', ...options, '--build', staging, output], {
      timeoutMs: BUILD_TIMEOUT_MS,
      quiet: true,
      env: { SOURCE_DATE_EPOCH: String(time) },
    })
    if (!ok) throw new Error(`dpkg-deb (Debian dpkg) cannot build ${path.basename(output)}: ${said.trim()}`)
    return output
  } finally {
    await rm(staging, { recursive: true })
  }
}

function controlFiles({
  name,
  version,
  architecture,
  control,
  files,
}: DebianPackage): Record<string, string> {
  const kibibytes = files.reduce((sum, { content }) => sum + Math.ceil(content.length / 1024), 0)
  const fields = {
    Package: name,
    Version: version,
    Architecture: architecture,
    'Installed-Size': kibibytes,
    ...control,
  }
  const conffiles = files.filter(({ isConffile }) => isConffile).map((file) => `/${file.path}\n`)
  const sums = files
    .filter(({ isConffile }) => !isConffile)
    .map((file) => `${createHash('md5').update(file.content).digest('hex')}  ${file.path}\n`)
  return {
    control: Object.entries(fields)
      .map(([field, value]) => `${field}: ${value}\n`)
      .join(''),
    md5sums: sums.join(''),
    ...(conffiles.length > 0 && { conffiles: conffiles.join('') }),
  }
}

/** Removes the packages of other releases, so that a pattern such as svc-relay_*_amd64.deb finds one. */
async function makeRoom(directory: string, { name, architecture }: DebianPackage): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const file of await readdir(directory))
    if (file.startsWith(`${name}_`) && file.endsWith(`_${architecture}.deb`))
      await rm(path.join(directory, file))
}

/** The umask of the caller has no part in the modes. */
async function write(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, content)
  await chmod(file, mode)
}

async function setTimes(directory: string, time: number): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name)
    if (entry.isDirectory()) await setTimes(file, time)
    else await utimes(file, time, time)
  }
  await chmod(directory, DIRECTORY_MODE)
  await utimes(directory, time, time)
}
