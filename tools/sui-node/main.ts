// `node tools/sui-node/main.ts [--port 9000] [--network sui:testnet] [--file FILE] [--fund ADDRESS=AMOUNT …]`: a full node
// on a local chain, for trying paid routes without money. It ends with Ctrl-C.
import { parseArgs } from 'node:util'
import { CHAIN_IDS, type Network } from './chain.ts'
import { startSuiNode } from './server.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9000' },
    network: { type: 'string', default: 'sui:testnet' },
    file: { type: 'string' },
    fund: { type: 'string', multiple: true, default: [] },
  },
})
if (!Object.hasOwn(CHAIN_IDS, values.network))
  throw new Error(`--network is one of ${Object.keys(CHAIN_IDS).join(', ')}`)
const { url, node } = await startSuiNode({
  port: Number(values.port),
  network: values.network as Network,
  ...(values.file !== undefined && { file: values.file }),
})
for (const entry of values.fund) {
  const [address = '', amount = ''] = entry.split('=')
  node.chain.fund(address, BigInt(amount))
}
console.log(url)
