// A share of the visitors: each sends a ClientHello, waits for the first byte, and stays. It ends with its parent.
import { once } from 'node:events'
import { connect } from 'node:net'
import { recordClientHello } from '../tls/client-hello.ts'
import { nameOf, type Share, workThrough } from './work.ts'

const AT_ONCE = 8

process.on('disconnect', () => process.exit())
const [share] = (await once(process, 'message')) as [Share]
const { hostname, port } = new URL(share.url)
const hello = Buffer.from(await recordClientHello('X25519', `${nameOf(share.prefix, 0)}.${hostname}`))
const nameAt = hello.indexOf(nameOf(share.prefix, 0))
await workThrough(share, AT_ONCE, async (visitor) => {
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: share.localAddress })
  const mine = Buffer.from(hello)
  mine.write(nameOf(share.prefix, visitor % share.sites), nameAt)
  socket.write(mine)
  await once(socket, 'data')
  socket.on('error', () => {})
})
