// Bundles a program and all its packages to one ES module.
import path from 'node:path'
import { build, type Rolldown } from 'vite'
import { buildAgentPage } from '../../tools/bundler/agent-page.ts'
import { root } from '../../tools/programs/command.ts'
import { thirdPartyLoaders } from './third-party-loaders.ts'

export type ProgramName = 'svc' | 'svc-relay'

/** The oldest Node that runs the file. */
const TARGET = 'node24'

/** @returns the code, which begins with a shebang */
export async function bundleProgram(name: ProgramName): Promise<string> {
  // the bundle of svc has the page in it
  if (name === 'svc') await buildAgentPage()
  const result = await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [thirdPartyLoaders(name === 'svc')],
    ssr: { noExternal: true },
    build: {
      ssr: path.join(import.meta.dirname, 'program', `${name}.ts`),
      write: false,
      minify: true,
      target: TARGET,
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })
  const { output } = result as Rolldown.RolldownOutput
  const [chunk, ...others] = output
  if (others.length > 0) throw new Error(`${name} is not one file: ${output.map(({ fileName }) => fileName)}`)
  if (!chunk.code.startsWith('#!')) throw new Error(`${name} does not begin with a shebang`)
  return chunk.code
}
