// `npm run docs`: builds the documentation as a site into the relay's package, or with a directory, as files for any web server.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { root } from '../tools/programs/command.ts'

const BASE = '/docs'

const { directory, base, origin } = readArguments() ?? usage()
const built = await buildDocumentation({
  ...(directory !== undefined && { directory: path.resolve(directory), base, origin }),
  onBuild: () => console.log('Building the documentation …'),
})
console.log(
  directory === undefined
    ? `The documentation is in ${path.relative(root, built)}: a relay serves it at ${BASE}.`
    : `The documentation is in ${built}: serve it at ${origin ?? ''}${base}`,
)

interface Arguments {
  directory: string | undefined
  base: string
  origin: string | undefined
}

function readArguments(): Arguments | undefined {
  try {
    const options = { url: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const [directory, ...more] = positionals
    if (more.length > 0 || (directory === undefined && values.url !== undefined)) return undefined
    return {
      directory,
      ...(values.url === undefined ? { base: BASE, origin: undefined } : placeOf(values.url)),
    }
  } catch {
    return undefined
  }
}

/** @param url of the first page, or its path alone. @throws Error for what is neither */
function placeOf(url: string): Pick<Arguments, 'base' | 'origin'> {
  const isPath = url.startsWith('/')
  const { pathname, origin, protocol, search, hash } = new URL(url, 'https://docs.invalid')
  if (!/^https?:$/.test(protocol) || search + hash !== '') throw new Error(`${url} is no address of a page`)
  return { base: pathname.replace(/(?<=.)\/$/, ''), origin: isPath ? undefined : origin }
}

function usage(): never {
  console.error(
    'Usage: npm run docs [-- DIRECTORY [--url URL]]\nIt builds the documentation for relays of this checkout, or into DIRECTORY, to be served at URL: such as https://docs.example.org/ or, where the host does not matter, a path; /docs by default.',
  )
  process.exit(2)
}
