// The runtimes of the proof, from npm: which package runs there, and what it does where the runtime is too old.
import path from 'node:path'
import { ensureNode, OLDEST_NODE } from '../../tools/programs/node-version.ts'
import { PACKAGES } from '../handlers/runtimes.ts'

const BROWSER = '@svc/sdk-browser'
const NODE = '@svc/sdk-node'
/** The oldest Node that has the two APIs which each SDK needs. */
const OLDEST_FOR_PAGES = '22.1.0'

export interface Runtime {
  name: string
  version: string
  sdk: typeof BROWSER | typeof NODE
  /** The program and its arguments, before those of the site. */
  command(folder: string): readonly string[]
  /** The code of the error for a runtime that is too old. */
  refuses?: string
  env?: Readonly<Record<string, string>>
}

export const RUNTIMES: readonly Runtime[] = [
  { ...node('20.20.2', BROWSER), refuses: 'unsupported_platform' },
  node(OLDEST_FOR_PAGES, BROWSER),
  node('22.23.3', BROWSER),
  node(process.versions.node, BROWSER),
  {
    name: 'Deno',
    version: PACKAGES.deno,
    sdk: BROWSER,
    // It refuses certificates for `*.localhost`, which is what the relay of this proof has.
    command: (folder) => [denoOf(folder), 'run', '-A', '--unsafely-ignore-certificate-errors'],
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  },
  { name: 'Bun', version: PACKAGES.bun, sdk: BROWSER, command: (folder) => [bunOf(folder)] },
  { ...node('20.20.2', NODE), refuses: 'unsupported_platform' },
  { ...node(OLDEST_FOR_PAGES, NODE), refuses: 'unsupported_platform' },
  { ...node('22.23.3', NODE), refuses: 'unsupported_platform' },
  node(OLDEST_NODE, NODE),
  node(process.versions.node, NODE),
  {
    name: 'Deno',
    version: PACKAGES.deno,
    sdk: NODE,
    command: (folder) => [denoOf(folder), 'run', '-A'],
  },
  { name: 'Bun', version: PACKAGES.bun, sdk: NODE, command: (folder) => [bunOf(folder)] },
]

function node(version: string, sdk: Runtime['sdk']): Runtime {
  const command = (): string[] => [version === process.versions.node ? process.execPath : ensureNode(version)]
  return { name: 'Node', version, sdk, command }
}

function denoOf(folder: string): string {
  return path.join(folder, 'node_modules/deno/deno')
}

function bunOf(folder: string): string {
  return path.join(folder, 'node_modules/bun/bin/bun.exe')
}
