// Locates the modules of this package's threads and the agent's page. In the checkout and in `dist` the modules are
// next to this one; a single executable (scripts/binaries) overrides that.

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { WorkerOptions } from 'node:worker_threads'

/** Modules by name, in the checkout. */
const MODULES = { 'quic-worker': (): URL => new URL('./datagram/quic-worker.ts', import.meta.url) } as const

type ThreadName = keyof typeof MODULES

/** The files of the agent's page. */
export const PAGE_FILES = [
  'index.html',
  'index.js',
  'index.css',
  'requests-page.js',
  'requests-page.css',
  'shares-dialog.js',
  'tunnel-form.js',
] as const
export type PageFile = (typeof PAGE_FILES)[number]

/** The arguments of `new Worker` for a thread. */
export interface ThreadCode {
  script: string | URL
  options: WorkerOptions
}

export interface Installation {
  thread(name: ThreadName): ThreadCode
  /** Resolves with a file of the agent's page. @throws the error of the file system when it is not built */
  agentPage(file: PageFile): Promise<string>
}

let current: Installation = {
  thread: (name) => ({ script: moduleOf(name), options: {} }),
  // next to both `src` and `dist`
  agentPage: (file) => readFile(new URL(`../page/${file}`, import.meta.url), 'utf8'),
}

export function installation(): Installation {
  return current
}

/** A single executable calls this before it runs a command. */
export function setInstallation(other: Installation): void {
  current = other
}

/** @returns the module with the extension of this one, which is `.js` in `dist` */
function moduleOf(name: ThreadName): URL {
  const { href } = MODULES[name]()
  return new URL(href.replace(/\.ts$/, extname(import.meta.filename)))
}
