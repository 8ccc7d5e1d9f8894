// The examples of the documentation, type-checked as modules of a user who has the packages: all in one program.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { API, type Diagnostic, type Project } from 'typescript/unstable/sync'
import { root } from '../../tools/programs/command.ts'
import { modulesOf, type Page } from './example-modules.ts'

/** The strict checks of this repository but those of style, and the globals of a page and of Node. */
const COMPILER_OPTIONS = {
  lib: ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
  types: ['node'],
  // The `.d.ts` files beside the examples are checked, too. No error of another file is asked for.
  skipLibCheck: false,
  noUncheckedIndexedAccess: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  isolatedDeclarations: false,
  declaration: false,
}

export interface ExampleErrors {
  /** The number of modules that the examples make. */
  modules: number
  /** One text for each error, with the page and the line. */
  errors: string[]
}

/**
 * Type-checks the examples of pages.
 * @param files other files by their paths: modules that examples import, and declarations of global names
 * @throws Error when TypeScript takes no project or file
 */
export function checkExamples(pages: readonly Page[], files: Record<string, string>): ExampleErrors {
  const directory = mkdtempSync(path.join(realpathSync(tmpdir()), 'svc-examples-'))
  const api = new API({ cwd: directory })
  try {
    const config = {
      extends: path.join(root, 'tsconfig.base.json'),
      compilerOptions: COMPILER_OPTIONS,
      include: ['.'],
    }
    const modules = pages.flatMap(modulesOf)
    const texts = { ...files, ...Object.fromEntries(modules.map(({ file, text }) => [file, text])) }
    const others = { 'package.json': '{ "type": "module" }', 'tsconfig.json': JSON.stringify(config) }
    for (const [file, text] of Object.entries({ ...texts, ...others })) {
      mkdirSync(path.dirname(path.join(directory, file)), { recursive: true })
      writeFileSync(path.join(directory, file), text)
    }
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
    const project = open(api, path.join(directory, 'tsconfig.json'))
    const errors = Object.entries(texts).flatMap(([file, text]) =>
      diagnosticsOf(project, path.join(directory, file)).map((one) => describe(file, text, one)),
    )
    return { modules: modules.length, errors }
  } finally {
    api.close()
    rmSync(directory, { recursive: true })
  }
}

function open(api: API, config: string): Project {
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (project === undefined) throw new Error(`TypeScript opened no project for ${config}`)
  const [wrong] = project.program.getConfigFileParsingDiagnostics()
  if (wrong) throw new Error(`TypeScript refused ${config}: ${wrong.text}`)
  return project
}

/** The errors of one file. TypeScript checks of the packages what the file needs. */
function diagnosticsOf({ program }: Project, file: string): readonly Diagnostic[] {
  if (program.getSourceFile(file) === undefined) throw new Error(`${file} is not in the program`)
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
}

/** A module has the lines of its page. */
function describe(file: string, text: string, diagnostic: Diagnostic): string {
  const page = file.replace(/\.\d+\.ts$/, '')
  return `${page}:${text.slice(0, diagnostic.pos).split('\n').length}: ${messagesOf(diagnostic).join(' ')}`
}

function messagesOf({ text, messageChain = [] }: Diagnostic): string[] {
  return [text, ...messageChain.flatMap(messagesOf)]
}
