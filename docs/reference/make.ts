// Makes the API reference from the docstrings of the packages' entries, as web pages in docs/api: `npm run docs`.
// Whether every export has a docstring is a test of `npm test` (scripts/test/docs.test.ts).
import path from 'node:path'
import { Application, type TypeDocOptions } from 'typedoc'

const here = import.meta.dirname
const root = path.resolve(here, '../..')
const out = path.resolve(here, '../api')

const ENTRIES = [
  'protocol/src/index.ts',
  'yamux/src/index.ts',
  'tls/src/index.ts',
  'tls/src/messages/index.ts',
  'payment/src/index.ts',
  'dns/src/index.ts',
  'node-kit/src/http/index.ts',
  'node-kit/src/sockets/index.ts',
  'sdk-core/src/index.ts',
  'sdk-core/src/handlers/index.ts',
  'sdk-core/src/payer/index.ts',
  'sdk-browser/src/index.ts',
  'sdk-node/src/index.ts',
  'relay/src/index.ts',
]

const options: TypeDocOptions = {
  name: 'svc',
  entryPoints: ENTRIES.map((entry) => path.join(root, entry)),
  tsconfig: path.join(here, 'tsconfig.json'),
  readme: 'none',
  gitRevision: 'main',
  excludePrivate: true,
  // `npm test` checks the types, with the project's own TypeScript and each package's own libraries.
  skipErrorChecking: true,
}

const application = await Application.bootstrap(options)
const project = await application.convert()
if (project) await application.generateDocs(project, out)
if (application.logger.hasErrors()) process.exitCode = 1
else console.log(`The API reference is in ${path.join(out, 'index.html')}`)
