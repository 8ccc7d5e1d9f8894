// Makes the API reference from the docstrings of the packages' entries, as Markdown for the site: `node docs/reference/make.ts FOLDER`.
// Whether every export has a docstring is a test of `npm test` (scripts/test/docstrings.test.ts).
import path from 'node:path'
import { Application, type TypeDocOptions } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { ENTRIES } from './entries.ts'

const root = path.resolve(import.meta.dirname, '../..')
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: node docs/reference/make.ts FOLDER')
  process.exit(2)
}

const options: TypeDocOptions & PluginOptions = {
  name: 'API reference',
  entryPoints: ENTRIES.map(({ file }) => path.join(root, file)),
  tsconfig: path.join(import.meta.dirname, 'tsconfig.json'),
  readme: 'none',
  excludePrivate: true,
  disableSources: true,
  // `npm test` checks the types, with the project's own TypeScript and each package's own libraries.
  skipErrorChecking: true,
  plugin: ['typedoc-plugin-markdown'],
  router: 'module',
  outputs: [{ name: 'markdown', path: folder }],
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  enumMembersFormat: 'table',
  propertyMembersFormat: 'table',
  expandObjects: false,
  useHTMLAnchors: true,
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
}

const application = await Application.bootstrapWithPlugins(options)
const project = await application.convert()
if (project) await application.generateOutputs(project)
if (application.logger.hasErrors()) process.exitCode = 1
