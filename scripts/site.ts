// `npm run site`: builds the pages that a relay serves at its root host, for one that runs, too, the page of the local agent, and the
// documentation. `npm ci` builds all but the documentation (`--without-documentation`).
import { buildAgentPage } from '../tools/bundler/agent-page.ts'
import { buildDocumentation } from '../tools/bundler/documentation.ts'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'

const args = process.argv.slice(2)
const isWhole = args[0] !== '--without-documentation'
if (args.length > (isWhole ? 0 : 1)) {
  console.error(
    'Usage: npm run site\nIt builds relay/pages and relay/documentation, which svc-relay serves; copy the first to serve it from elsewhere.\nnpm run docs -- DIRECTORY makes the second for any web server.',
  )
  process.exit(2)
}
const [relayPages] = await Promise.all([buildRelayPages(), buildAgentPage()])
console.log(relayPages)
if (isWhole) console.log(await buildDocumentation())
