// Builds the pages that a development relay serves.
import path from 'node:path'
import { build } from 'vite'
import { root } from './command.ts'

/**
 * @param siteDir where the relay will look for its static files
 * @returns the same
 */
export async function buildExamples(siteDir: string = path.join(root, 'examples/dist')): Promise<string> {
  const configFile = path.join(root, 'examples/vite.config.ts')
  await build({ configFile, logLevel: 'warn', build: { outDir: path.join(siteDir, 'examples') } })
  return siteDir
}
