// The packages that are published, and their package.json in the checkout.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'

/** The folders of the packages, each after those that it imports. */
export const PUBLISHED = [
  'protocol',
  'yamux',
  'tls',
  'payment',
  'node-kit',
  'dns',
  'sdk-core',
  'sdk-browser',
  'sdk-node',
  'relay',
] as const

export type PublishedFolder = (typeof PUBLISHED)[number]

/** The value of a name in `exports` or `imports`: a file or a package, or one for each condition. */
export type Target = string | { [condition: string]: Target }

/** The fields of a package.json that this folder reads or writes. */
export interface Manifest {
  name: string
  version: string
  private?: boolean
  description?: string
  keywords?: string[]
  license?: string
  repository?: { type: string; url: string; directory?: string }
  engines?: Record<string, string>
  sideEffects?: boolean | string[]
  files?: string[]
  exports?: Record<string, Target>
  imports?: Record<string, Target>
  bin?: Record<string, string>
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  [field: string]: unknown
}

/** @param folder a folder of the repository; `.` is its root */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'))
}
