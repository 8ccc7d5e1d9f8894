// `npm run site`: builds the pages that a relay serves at its root host, for one that runs, too, and the page of the local agent.
// `npm ci` does the same.
import { buildAgentPage } from '../tools/bundler/agent-page.ts'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'

if (process.argv.length > 2) {
  console.error(
    'Usage: npm run site\nIt builds relay/pages, which svc-relay serves; copy that folder to serve it from elsewhere.',
  )
  process.exit(2)
}
const [relayPages] = await Promise.all([buildRelayPages(), buildAgentPage()])
console.log(relayPages)
