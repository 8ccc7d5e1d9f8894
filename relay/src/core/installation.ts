// Says where the other files of this relay are: the modules of its threads and child processes, its pages, and the installer's scripts. In the
// checkout and in `dist` they lie beside this one; a single executable (scripts/binaries) sets other places.

import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkerOptions } from 'node:worker_threads'

/** Modules by name, those of this package in the checkout. */
const MODULES = {
  'signer-recovery-worker': (): URL => new URL('./auth/signer-recovery-worker.ts', import.meta.url),
  'worker-main': (): URL => new URL('../features/workers/worker-main.ts', import.meta.url),
  'dns-thread': (): URL => new URL(import.meta.resolve('@svc/dns/thread')),
  'quic-process': (): URL => new URL('../features/datagrams/quic-process.ts', import.meta.url),
} as const

type ThreadName = 'signer-recovery-worker' | 'dns-thread'
type ProcessName = 'worker-main' | 'quic-process'

/** What `new Worker` needs to run a thread. */
export interface ThreadCode {
  script: string | URL
  options: WorkerOptions
}

/** What `spawn` and `fork` need to run `process.execPath` as a child process. */
interface ProcessCode {
  /** Options of Node, which come before the module. */
  execArgv: string[]
  /** The path of the module, or what stands for it. */
  module: string
  /** Arguments after the module. */
  args: string[]
  /** Variables that the process needs beside those that its parent chooses. */
  env: Record<string, string>
}

export interface Installation {
  thread(name: ThreadName): ThreadCode
  process(name: ProcessName, execArgv: readonly string[]): ProcessCode
  /** Paths that the QUIC process may read; undefined: this package and its dependencies. */
  quicReadable: readonly string[] | undefined
  /** Directory of the built-in pages. */
  pages(): string
  /** Directory of the documentation. */
  documentation(): string
  /** Text of a script of the installer. */
  installScript(name: 'install.sh' | 'install.ps1'): Promise<string>
}

let current: Installation = {
  thread: (name) => ({ script: moduleOf(name), options: {} }),
  process: (name, execArgv) => ({
    execArgv: [...execArgv],
    module: fileURLToPath(moduleOf(name)),
    args: [],
    env: {},
  }),
  quicReadable: undefined,
  pages: () => resolve(import.meta.dirname, '../../pages'),
  documentation: () => resolve(import.meta.dirname, '../../documentation'),
  installScript: (name) => readFile(resolve(import.meta.dirname, '../features/installer', name), 'utf8'),
}

export function installation(): Installation {
  return current
}

/** A single executable calls this before it starts a relay. */
export function setInstallation(other: Installation): void {
  current = other
}

/** @returns the module with the extension of this one, which is `.js` in `dist` */
function moduleOf(name: keyof typeof MODULES): URL {
  const { href } = MODULES[name]()
  return new URL(href.replace(/\.ts$/, extname(import.meta.filename)))
}
