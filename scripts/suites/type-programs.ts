// Merges TypeScript projects with the same options into one program: most of the time goes into what all of them import.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'

const PROJECTS =
  '{*,*/test,examples/webhook-inspector,{relay,sdk-node}/web,{relay,sdk-node}/web/test,scripts/binaries/program}/tsconfig.json'

export interface Project {
  extends: string
  compilerOptions: object
  include: string[]
  exclude?: string[]
}

/** Writes the programs' configurations to `folder`. @returns their paths */
export function writeTypePrograms(folder: string): string[] {
  const projects = globSync(PROJECTS, { cwd: root })
    .sort()
    .map((file): [string, Project] => [
      path.join(root, path.dirname(file)),
      JSON.parse(readFileSync(path.join(root, file), 'utf8')),
    ])
  return mergeProjects(projects).map((program, index) => {
    const file = path.join(folder, `tsconfig.${index}.json`)
    // From there, the compiler would find none.
    const typeRoots = [path.join(root, 'node_modules/@types')]
    writeFileSync(
      file,
      JSON.stringify({ ...program, compilerOptions: { ...program.compilerOptions, typeRoots } }),
    )
    return file
  })
}

/**
 * @param projects by their folders, which are absolute
 * @returns with absolute paths, in the order of the first project of each
 */
export function mergeProjects(projects: readonly [folder: string, project: Project][]): Project[] {
  const alike = Object.values(
    Object.groupBy(projects, ([folder, one]) =>
      JSON.stringify([path.join(folder, one.extends), one.compilerOptions]),
    ),
  ).filter((group) => group !== undefined)
  return alike.map((group) => {
    const [folder, first] = group[0]!
    const absolute = (key: 'include' | 'exclude'): string[] =>
      group.flatMap(([folder, one]) => (one[key] ?? []).map((pattern) => path.join(folder, pattern)))
    return {
      extends: path.join(folder, first.extends),
      compilerOptions: first.compilerOptions,
      include: absolute('include'),
      exclude: absolute('exclude'),
    }
  })
}
