// `npm run docs`: builds the documentation as a site into the relay's package, or with a directory, as files for any web server.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { root } from '../tools/programs/command.ts'

const BASE = '/docs'

const { directory, base } = readArguments() ?? usage()
const built = await buildDocumentation({
  ...(directory !== undefined && { directory: path.resolve(directory), base }),
  onBuild: () => console.log('Building the documentation …'),
})
console.log(
  directory === undefined
    ? `The documentation is in ${path.relative(root, built)}: a relay serves it at ${BASE}.`
    : `The documentation is in ${built}: serve it at ${base}`,
)

function readArguments(): { directory: string | undefined; base: string } | undefined {
  try {
    const options = { base: { type: 'string', default: BASE } } as const
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const [directory, ...more] = positionals
    const isPath = /^\/[\w./-]*$/.test(values.base)
    return isPath && more.length === 0 && (directory !== undefined || values.base === BASE)
      ? { directory, base: values.base }
      : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error(
    'Usage: npm run docs [-- DIRECTORY [--base PATH]]\nIt builds the documentation for relays of this checkout, or into DIRECTORY, to be served at /docs or at PATH.',
  )
  process.exit(2)
}
