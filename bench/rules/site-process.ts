// Three sites in one process, in front of one server: without rules, with rules, and with the same rules but no direct path.
import { DIRECT, type DirectlyHandled, type TrafficRules } from '@svc/sdk-core'
import { withRules } from '@svc/sdk-core/rules'
import { publish } from '../../sdk-node/src/index.ts'
import { httpTarget } from '../../sdk-node/src/target/http-target.ts'
import type { Sites } from './family.ts'

const RULES: TrafficRules = {
  redirects: { path: '/old/*', to: '/new/*' },
  rewrites: { path: '/api/*', to: '/*' },
  cors: { path: '/api/*', origins: ['https://app.example'] },
  requestHeaders: { set: { 'X-Env': 'bench' } },
  requestBody: { maxSize: '10MB' },
  timeouts: { response: 30 },
  responseHeaders: { set: { 'X-Frame-Options': 'DENY' }, remove: ['Server'] },
}

const [relay = '', ca = '', port = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const target = (): DirectlyHandled => httpTarget(new URL(`http://127.0.0.1:${port}`), { onError: () => {} })
const at = async (fetch: DirectlyHandled): Promise<string> => {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  return (await publish({ relay, ca, identity, fetch, carrier: 'native' })).url
}
const indirect = withRules(target(), RULES)
indirect[DIRECT] = undefined
process.send!({
  plain: await at(target()),
  ruled: await at(withRules(target(), RULES)),
  indirect: await at(indirect),
} satisfies Sites)
