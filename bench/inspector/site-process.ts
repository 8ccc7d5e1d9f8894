// A site in front of a server, without an inspector.
import { publish } from '../../sdk-node/src/index.ts'
import { httpTarget } from '../../sdk-node/src/target/http-target.ts'

const [relay = '', ca = '', port = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const fetch = httpTarget(new URL(`http://127.0.0.1:${port}`), { onError: () => {} })
const identity = crypto.getRandomValues(new Uint8Array(32))
const { url } = await publish({ relay, ca, identity, fetch, carrier: 'native' })
process.send!(url)
