// Judges tarballs with two tools that are not ours: publint reads the manifest, arethetypeswrong resolves the types.
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Tarball } from './pack.ts'

/**
 * Resolution by compilers that know no `exports`, and of `require` by one that has none of ES modules: the packages are ES
 * modules for Node 24, which can `require` them.
 */
const OTHER_RESOLUTIONS: ReadonlySet<string> = new Set(['node10', 'node16-cjs'])

/** @returns a sentence for each finding */
export async function checkTarball({ name, file }: Pick<Tarball, 'name' | 'file'>): Promise<string[]> {
  const bytes = readFileSync(file)
  return [...(await findWithPublint(bytes)), ...(await findWrongTypes(bytes))].map(
    (text) => `${name}: ${text}`,
  )
}

async function findWithPublint(bytes: Buffer): Promise<string[]> {
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const { messages, pkg } = await publint({ pack: { tarball }, level: 'suggestion', strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`)
}

async function findWrongTypes(bytes: Buffer): Promise<string[]> {
  const result = await checkPackage(createPackageFromTarballData(bytes))
  if (!result.types) return ['arethetypeswrong: it has no types']
  return result.problems.filter(concerns).map(describe)
}

/** The trace of a resolution has a page of lines. */
function describe(problem: Problem): string {
  return `arethetypeswrong: ${JSON.stringify({ ...problem, trace: undefined })}`
}

function concerns(problem: Problem): boolean {
  return !('resolutionKind' in problem) || !OTHER_RESOLUTIONS.has(problem.resolutionKind)
}
