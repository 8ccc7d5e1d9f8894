// Two sites in one process, with the same handler: one asks for its visitors' addresses, the other does not.
import { publish } from '../../sdk-node/src/index.ts'
import type { Sites } from './family.ts'

const [relay = '', ca = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const at = async (visitorAddress: boolean): Promise<string> => {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  const fetch = () => new Response('hello')
  return (await publish({ relay, ca, identity, fetch, visitorAddress, carrier: 'native' })).url
}
process.send!({ asking: await at(true), silent: await at(false) } satisfies Sites)
