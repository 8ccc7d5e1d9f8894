// `route-visitor-process.ts URL ADDRESS CA MIB`: a visitor of a site at a relay with this address, over a WebSocket and with a large
// download. Prints what the WebSocket said, and the SHA-256 of the download.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { WebSocket } from 'ws'

const [url = '', host = '', caFile = '', mib = ''] = process.argv.slice(2)
const { hostname: servername } = new URL(url)
const options = { host, servername, ca: readFileSync(caFile), headers: { Host: servername } }

const socket = new WebSocket(`wss://${host}/socket`, [], options)
await once(socket, 'open')
socket.send('a message')
const [data] = await once(socket, 'message')
socket.close()
const [response]: [IncomingMessage] = (await once(
  get({ ...options, path: `/large?mib=${mib}` }),
  'response',
)) as [IncomingMessage]
const sum = createHash('sha256')
for await (const chunk of response) sum.update(chunk)
process.stdout.write(`${JSON.stringify({ message: `${data}`, sum: sum.digest('hex') })}\n`)
