// Three sites in one process, in front of one server: without an inspector, with one that is closed, and with one that is open.
import type { DirectlyHandled } from '@svc/sdk-core'
import { publish } from '../../sdk-node/src/index.ts'
import { newInspection } from '../../sdk-node/src/inspector/inspector-server.ts'
import { InspectorSwitch } from '../../sdk-node/src/inspector/inspector-switch.ts'
import { httpTarget } from '../../sdk-node/src/target/http-target.ts'
import type { Sites } from './family.ts'

const [relay = '', ca = '', port = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const target = (): DirectlyHandled => httpTarget(new URL(`http://127.0.0.1:${port}`), { onError: () => {} })
const at = async (fetch: DirectlyHandled): Promise<string> => {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  return (await publish({ relay, ca, identity, fetch, carrier: 'native' })).url
}
const opened = new InspectorSwitch()
opened.use(newInspection().inspector)
process.send!({
  plain: await at(target()),
  closed: await at(new InspectorSwitch().wrap(target())),
  open: await at(opened.wrap(target())),
} satisfies Sites)
