// A machine on which people run the installer: a shell, only the programs that are named, and a home directory.

import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export type Shell = 'dash' | 'bash' | 'busybox'
export type Client = 'curl' | 'wget'

/** Programs that the script uses, and `env` and `sh` for those that it installs. */
const TOOLS = [
  ...[
    'awk',
    'cat',
    'chmod',
    'env',
    'getconf',
    'grep',
    'gzip',
    'head',
    'id',
    'ldd',
    'ln',
    'mkdir',
    'mktemp',
    'mv',
  ],
  ...['readlink', 'rm', 'rmdir', 'sed', 'sha256sum', 'sleep', 'tail', 'uname', 'wc'],
]
/** BusyBox, as Debian builds it, has none of these. */
const NOT_OF_BUSYBOX = ['getconf', 'ldd']
const RUN_TIMEOUT_MS = 60_000

export interface Run {
  code: number
  output: string
  errors: string
}

export interface MachineOptions {
  shell?: Shell
  client?: Client | undefined
  /** Programs that the machine does not have, out of those that every other one has. */
  without?: string[]
  /** Programs that it has besides, from this machine or with their own text. */
  programs?: Record<string, string>
}

export interface InstallOptions {
  url: string
  caFile: string
  proxy: string
  args?: string[]
  env?: Record<string, string>
  /** A command that becomes the shell, such as `setarch i686`. */
  through?: string[]
}

export class Machine {
  readonly root: string
  readonly home: string
  readonly #programs: string
  readonly #client: Client | undefined

  static async make(options: MachineOptions = {}): Promise<Machine> {
    const root = await mkdtemp(join(tmpdir(), 'svc-machine-'))
    // Another user may get in, for runs without root.
    await chmod(root, 0o755)
    const machine = new Machine(root, options.client)
    await mkdir(machine.home)
    await mkdir(machine.#programs)
    await machine.#addPrograms({ shell: 'dash', ...options })
    return machine
  }

  private constructor(root: string, client: Client | undefined) {
    this.root = root
    this.home = join(root, 'home')
    this.#programs = join(root, 'programs')
    this.#client = client
  }

  /** The directory to which the script installs for everybody but root. */
  get bin(): string {
    return join(this.home, '.local/bin')
  }

  async #addPrograms({ shell = 'dash', client, without = [], programs = {} }: MachineOptions): Promise<void> {
    const own = TOOLS.filter((name) => !without.includes(name))
    const isBusyBox = shell === 'busybox'
    for (const name of own) {
      if (isBusyBox && NOT_OF_BUSYBOX.includes(name)) continue
      await this.#link(name, pathOf(isBusyBox ? 'busybox' : name))
    }
    await this.#link('sh', pathOf(shell))
    if (client !== undefined) await this.#link(client, pathOf(client))
    for (const [name, text] of Object.entries(programs)) {
      if (text.startsWith('/')) await this.#link(name, text)
      else await writeFile(join(this.#programs, name), text, { mode: 0o755 })
    }
  }

  #link(name: string, path: string): Promise<void> {
    return symlink(path, join(this.#programs, name))
  }

  /** Does what the documentation says: downloads the script with the machine's client, and pipes it into the shell. */
  async install({ url, caFile, proxy, args = [], env = {}, through = [] }: InstallOptions): Promise<Run> {
    const fetch =
      this.#client === 'wget'
        ? 'wget -q -O - --ca-certificate="$SVC_CA" "$URL"'
        : `${this.#client ?? pathOf('curl')} -fsSL --cacert "$SVC_CA" "$URL"`
    const shell = [...through, 'sh', '-s', '--', ...args].map((word) => `'${word}'`).join(' ')
    return await this.run(`${fetch} | (cd "$HOME" && ${shell})`, {
      SVC_CA: caFile,
      URL: `${url}/api/install.sh`,
      https_proxy: proxy,
      SVC_INSTALL_DIR: this.bin,
      ...env,
    })
  }

  /** Runs a command line in the machine's shell. */
  run(command: string, env: Record<string, string> = {}): Promise<Run> {
    const options = {
      timeout: RUN_TIMEOUT_MS,
      env: { HOME: this.home, PATH: this.#programs, SHELL: '/bin/bash', ...env },
    }
    return new Promise((resolve) => {
      execFile(join(this.#programs, 'sh'), ['-c', command], options, (error, output, errors) => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
        resolve({ code, output, errors })
      })
    })
  }

  /** Runs the svc that is installed. */
  runSvc(...args: string[]): Promise<Run> {
    return this.run([`"$PROGRAM"`, ...args].join(' '), { PROGRAM: join(this.bin, 'svc') })
  }

  /** Names of all that is in the directory of programs; empty without one. */
  async installed(): Promise<string[]> {
    return (await readdir(this.bin).catch(() => [])).sort()
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true })
  }
}

/** @throws Error when this machine has no such program */
export function pathOf(name: string): string {
  const path = findProgram(name)
  if (path === undefined) throw new Error(`${name} is not installed`)
  return path
}

export function findProgram(name: string): string | undefined {
  const folders = ['/usr/bin', '/bin', ...(process.env.PATH ?? '').split(delimiter)]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
